#pragma once

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>

namespace bench {

// Deep recursion that also helps while it waits outgrows the 2 to 8 MB that libraries give a
// thread.
inline constexpr std::size_t deep_stack_bytes = std::size_t{64} << 20;

// Call first in main: lets the main thread's stack grow that far, and gives threads that take the
// default as much.
inline void allow_deep_stacks() {
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur =
      std::min<rlim_t>(std::max<rlim_t>(limit.rlim_cur, deep_stack_bytes), limit.rlim_max);
  setrlimit(RLIMIT_STACK, &limit);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, deep_stack_bytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace bench
