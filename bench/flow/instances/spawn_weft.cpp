#include "config.hpp"

// Plain: a spawn for each, then each future.
int main(int argc, char** argv) {
  return flow_instances::measure(
      argc, argv,
      [](weft::hybrid_scheduler& hs, const std::vector<std::size_t>& items,
         auto body) -> weft::task<std::size_t> {
        std::vector<weft::spawned<std::size_t>> futures;
        futures.reserve(items.size());
        for (const std::size_t item : items) {
          futures.push_back(hs.spawn_cpu([body, item] { return body(item); }));
        }
        std::size_t sum = 0;
        for (auto& f : futures) sum += co_await std::move(f);
        co_return sum;
      });
}
