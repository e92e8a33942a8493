#pragma once

// The one door to atomics and mutexes. Lock-free code names `weft::atomic`, so that the very same
// source runs on hardware and, with WEFT_MODEL_CHECK, inside the model checker of tests/model.

#ifdef WEFT_MODEL_CHECK
#include <model_atomic.hpp>
#else
#include <sched.h>

#include <atomic>
#include <mutex>

namespace weft {

template <class T>
using atomic = std::atomic<T>;
using mutex = std::mutex;

// Lets others run, for loops that wait for somebody who is about to finish.
inline void yield_thread() noexcept { ::sched_yield(); }

// A variable of each thread, one for every Tag. T starts with its default value.
template <class Tag, class T>
T& per_thread() noexcept {
  static constinit thread_local T value{};
  return value;
}

}  // namespace weft
#endif
