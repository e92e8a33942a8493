#pragma once

#include <cstddef>

#include "../../support/clock.hpp"
#include "../../support/options.hpp"
#include "../../support/process.hpp"
#include "../../support/report.hpp"

// A million coroutines wait for one event. `memory` is what each takes of resident memory while it
// waits, `wake` the time from the event until the last has ended.
namespace hybrid_suspended {

inline std::size_t tasks(const bench::options& with) { return with.quick ? 200'000 : 1'000'000; }

// `suspend_all(count)` returns when they all wait; `wake_all()` when they all have ended.
template <class SuspendAll, class WakeAll>
void measure(const bench::options& with, SuspendAll&& suspend_all, WakeAll&& wake_all) {
  const auto count = tasks(with);
  const long before_kb = bench::resident_kb();
  suspend_all(count);
  const long grown_kb = bench::resident_kb() - before_kb;
  const auto begin = bench::now_ns();
  wake_all();
  const auto woken_ns = bench::now_ns() - begin;
  bench::emit("memory", "B", static_cast<double>(grown_kb) * 1024 / static_cast<double>(count));
  bench::emit("wake", "ms", static_cast<double>(woken_ns) / 1e6);
}

}  // namespace hybrid_suspended
