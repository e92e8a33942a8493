#include "config.hpp"

int main(int argc, char** argv) {
  return flow_instances::measure(
      argc, argv,
      [](weft::hybrid_scheduler& hs, const std::vector<std::size_t>& items,
         auto body) -> weft::task<std::size_t> {
        weft::instance_group<std::size_t, std::size_t> group(hs, body,
                                                             {.lane = weft::lane_kind::cpu});
        {
          auto ticket = group.open();
          for (const std::size_t item : items) ticket.add(item);
        }
        std::size_t sum = 0;
        const auto outcomes = co_await group.join();
        for (const auto& o : outcomes) sum += o.value();
        co_return sum;
      });
}
