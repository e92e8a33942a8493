#include "config.hpp"

int main(int argc, char** argv) {
  return flow_instances::measure(
      argc, argv,
      [](weft::hybrid_scheduler& hs, const std::vector<std::size_t>& items,
         auto body) -> weft::task<std::size_t> {
        const auto values =
            co_await weft::each(hs, items, body, {.max_running = 8, .lane = weft::lane_kind::cpu});
        co_return std::accumulate(values.begin(), values.end(), std::size_t{0});
      });
}
