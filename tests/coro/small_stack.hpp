#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <stdexcept>

namespace weft::test {

inline constexpr std::size_t small_stack = 256 * 1024;

// Runs f on a thread with a stack of 256 KB, and waits for it. f must not throw.
inline void on_a_small_stack(std::function<void()> f) {
  pthread_attr_t attributes;
  pthread_t thread{};
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, small_stack);
  const int status = ::pthread_create(
      &thread, &attributes,
      [](void* call) -> void* {
        (*static_cast<std::function<void()>*>(call))();
        return nullptr;
      },
      &f);
  ::pthread_attr_destroy(&attributes);
  if (status != 0) throw std::runtime_error("no thread with a small stack could be started");
  ::pthread_join(thread, nullptr);
}

}  // namespace weft::test
