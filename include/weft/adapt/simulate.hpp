#pragma once

#include <cstddef>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weft/adapt/time_point.hpp>

namespace weft {

namespace adapt {

// A reading and when it was taken: a row of a trace.
template <class Reading>
struct recorded {
  time_point at{};
  Reading reading{};
};

}  // namespace adapt

// Replays recorded readings through a policy: what would it have done on that day?
//
// A policy is anything with poll(reading, now); a trace is any range of adapt::recorded readings
// for it. `visit(row, decision)` is called after each poll, so a trace that is read as it goes
// needs no memory. The policy is a copy: the caller's stays as it was.
//
// Errors: std::invalid_argument when a row is earlier than the one before; what reading the trace
// and `visit` throw.
template <class Policy, std::ranges::input_range Trace, class Visit>
void simulate(Policy policy, Trace&& trace, Visit visit) {
  adapt::time_point latest = adapt::time_point::min();
  std::size_t index = 0;
  for (auto&& row : trace) {
    if (row.at < latest) {
      throw std::invalid_argument("simulate: row " + std::to_string(index) +
                                  " of the trace is earlier than the row before it");
    }
    latest = row.at;
    visit(row, policy.poll(row.reading, row.at));
    ++index;
  }
}

// The decisions, one for each row.
template <class Policy, std::ranges::input_range Trace>
[[nodiscard]] auto simulate(Policy policy, Trace&& trace) {
  using reading = decltype(std::ranges::range_value_t<Trace>::reading);
  std::vector<decltype(policy.poll(std::declval<const reading&>(), adapt::time_point{}))> decisions;
  simulate(std::move(policy), trace,
           [&](const auto&, const auto& decision) { decisions.push_back(decision); });
  return decisions;
}

}  // namespace weft
