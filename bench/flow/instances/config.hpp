#pragma once

#include <array>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>

#include "../../support/laps.hpp"
#include "../../support/rounds.hpp"

// Instances that do nothing but give their item back are started and joined by a task on the cores
// of a hybrid scheduler. `time` is per instance.
namespace flow_instances {

struct instance {
  std::string_view name;
  bool coroutines;
  std::size_t count;
};
inline constexpr std::array instances{
    instance{"function,10^3", false, 1'000}, instance{"function,10^5", false, 100'000},
    instance{"coroutine,10^3", true, 1'000}, instance{"coroutine,10^5", true, 100'000}};

inline std::size_t function(std::size_t item) { return item; }
inline weft::task<std::size_t> coroutine(std::size_t item) { co_return item; }

// Which instances, and where; the sum that `join_all` gives is checked.
template <class JoinAll>
weft::task<> turns(weft::hybrid_scheduler& hs, const instance& chosen, JoinAll join_all,
                   bench::laps& laps) {
  std::vector<std::size_t> items(chosen.count);
  std::iota(items.begin(), items.end(), std::size_t{0});
  const std::size_t expected = std::accumulate(items.begin(), items.end(), std::size_t{0});
  co_await hs.cpu();
  while (laps.next()) {
    std::size_t sum = 0;
    if (chosen.coroutines) {
      sum = co_await join_all(hs, items, coroutine);
    } else {
      sum = co_await join_all(hs, items, function);
    }
    if (sum != expected) bench::fail("flow_instances: wrong results");
  }
}

// join_all(hs, items, body) is a task that gives the sum of the results.
template <class JoinAll>
int measure(int argc, char** argv, JoinAll join_all) {
  const auto options = bench::parse(argc, argv);
  const instance chosen = bench::chosen_instance(options, instances);
  weft::hybrid_scheduler hs({.cpu_workers = static_cast<unsigned>(options.threads)});
  bench::laps laps(options);
  weft::sync_wait(turns(hs, chosen, join_all, laps));
  bench::emit_times("time", bench::nanoseconds, laps.samples_ns(chosen.count));
  return 0;
}

}  // namespace flow_instances
