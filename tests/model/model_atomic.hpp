#pragma once

// The model checker's side of weft/base/atomic.hpp: atomics with the interface of std::atomic,
// whose every operation is a step of a Relacy execution. With it the sources of src/core are what
// is checked, unchanged.

// Relacy redefines names of these headers with macros, so they come first.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <source_location>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <atomic>

#include <relacy/relacy.hpp>
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

// Relacy replaces operator new and delete, but knows nothing of the sized forms of delete.
inline void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
inline void operator delete[](void* memory, std::size_t) noexcept { operator delete[](memory); }

namespace weft {
namespace model {

inline rl::memory_order order_of(std::memory_order o) {
  switch (o) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_consume:
      return rl::mo_consume;
    case std::memory_order_acquire:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    default:
      return rl::mo_seq_cst;
  }
}

inline rl::debug_info place_of(const std::source_location& l) {
  return rl::debug_info(l.function_name(), l.file_name(), l.line());
}

}  // namespace model

template <class T>
class atomic {
  using place = std::source_location;

 public:
  atomic() { value_.store(T{}, rl::mo_relaxed, RL_INFO); }
  atomic(T v) { value_.store(v, rl::mo_relaxed, RL_INFO); }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order o = std::memory_order_seq_cst, place p = place::current()) const {
    return value_.load(model::order_of(o), model::place_of(p));
  }
  void store(T v, std::memory_order o = std::memory_order_seq_cst, place p = place::current()) {
    value_.store(v, model::order_of(o), model::place_of(p));
  }
  T exchange(T v, std::memory_order o = std::memory_order_seq_cst, place p = place::current()) {
    return value_.exchange(v, model::order_of(o), model::place_of(p));
  }
  T fetch_add(T v, std::memory_order o = std::memory_order_seq_cst, place p = place::current()) {
    return value_.fetch_add(v, model::order_of(o), model::place_of(p));
  }
  T fetch_sub(T v, std::memory_order o = std::memory_order_seq_cst, place p = place::current()) {
    return value_.fetch_sub(v, model::order_of(o), model::place_of(p));
  }
  T fetch_or(T v, std::memory_order o = std::memory_order_seq_cst, place p = place::current()) {
    return value_.fetch_or(v, model::order_of(o), model::place_of(p));
  }
  T fetch_and(T v, std::memory_order o = std::memory_order_seq_cst, place p = place::current()) {
    return value_.fetch_and(v, model::order_of(o), model::place_of(p));
  }
  bool compare_exchange_strong(T& expected, T v, std::memory_order ok, std::memory_order failed,
                               place p = place::current()) {
    return value_.compare_exchange_strong(expected, v, model::order_of(ok), model::place_of(p),
                                          model::order_of(failed), model::place_of(p));
  }
  bool compare_exchange_strong(T& expected, T v, std::memory_order ok = std::memory_order_seq_cst,
                               place p = place::current()) {
    return compare_exchange_strong(expected, v, ok, on_failure(ok), p);
  }
  // Spurious failure is left out: it would only repeat the loops around it.
  bool compare_exchange_weak(T& expected, T v, std::memory_order ok, std::memory_order failed,
                             place p = place::current()) {
    return compare_exchange_strong(expected, v, ok, failed, p);
  }
  bool compare_exchange_weak(T& expected, T v, std::memory_order ok = std::memory_order_seq_cst,
                             place p = place::current()) {
    return compare_exchange_strong(expected, v, ok, on_failure(ok), p);
  }

  rl::atomic<T>& relacy() { return value_; }

 private:
  static std::memory_order on_failure(std::memory_order ok) {
    if (ok == std::memory_order_acq_rel) return std::memory_order_acquire;
    if (ok == std::memory_order_release) return std::memory_order_relaxed;
    return ok;
  }

  mutable rl::atomic<T> value_;
};

class mutex {
 public:
  void lock() { mutex_.lock(RL_INFO); }
  void unlock() { mutex_.unlock(RL_INFO); }
  bool try_lock() { return mutex_.try_lock(RL_INFO); }

 private:
  rl::mutex mutex_;
};

inline void yield_thread() noexcept { rl::yield(1, RL_INFO); }

// The threads of a model are fibres of one thread.
template <class Tag, class T>
T& per_thread() noexcept {
  static T values[8]{};
  return values[rl::thread_index()];
}

}  // namespace weft
