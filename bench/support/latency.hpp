#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "clock.hpp"
#include "report.hpp"
#include "statistics.hpp"

namespace bench {

// Times each of many calls that take some ten nanoseconds.
class call_timer {
 public:
  explicit call_timer(std::size_t calls) : ticks_(calls) {}

  template <class Call>
  void time_each(Call&& call) {
    for (auto& elapsed : ticks_) {
      const auto begin = ticks();
      call();
      elapsed = ticks() - begin;
    }
  }

  // Emits `p50`, `p99` and `timer`, the cost of the two clock readings that both contain.
  void emit_quantiles() const {
    const double ns_per_tick = measure_ns_per_tick();
    std::vector<double> ns(ticks_.size());
    std::transform(ticks_.begin(), ticks_.end(), ns.begin(),
                   [=](auto elapsed) { return static_cast<double>(elapsed) * ns_per_tick; });
    emit("p50", "ns", quantile(ns, 0.50));
    emit("p99", "ns", quantile(ns, 0.99));
    emit("timer", "ns", measure_timer_cost_ns(ns_per_tick));
  }

 private:
  std::vector<std::uint64_t> ticks_;
};

}  // namespace bench
