#pragma once

#include <dlfcn.h>
#include <pthread.h>

// What a sanitizer knows of threads it learns in its own pthread_create. Clang links that into the
// program, where a test's takes its name: passed over, it takes a join for a second one.
extern "C" [[gnu::weak]] int __interceptor_pthread_create(pthread_t*, const pthread_attr_t*,
                                                          void* (*)(void*), void*);

namespace weft::test {

using pthread_create_function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

// For a program that has a pthread_create of its own: the one that it hides.
inline pthread_create_function real_pthread_create() {
  static const pthread_create_function real =
      __interceptor_pthread_create != nullptr
          ? __interceptor_pthread_create
          : reinterpret_cast<pthread_create_function>(::dlsym(RTLD_NEXT, "pthread_create"));
  return real;
}

}  // namespace weft::test
