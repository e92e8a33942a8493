#pragma once

#include <cstddef>

#include <weft/weft.hpp>

namespace bench {

// Weft with `threads` workers; the caller of `run` lends its thread.
class weft_runtime {
 public:
  // A stack size of 0 leaves the library's default.
  explicit weft_runtime(int threads, std::size_t stack_bytes = 0)
      : pool_(options_for(threads, stack_bytes)) {}

  template <class F>
  auto run(F&& f) {
    return pool_.run(f);
  }

  // Calls body(spawn) inside the pool and waits for every task it spawned.
  template <class Body>
  void scope(Body&& body) {
    pool_.run([&] {
      weft::task_group group;
      body([&](auto task) { group.spawn(task); });
      group.wait();
    });
  }

  template <class F>
  void spawn(F f) {
    pool_.spawn(f);
  }

  [[nodiscard]] weft::pool& pool() noexcept { return pool_; }

 private:
  static weft::pool_options options_for(int threads, std::size_t stack_bytes) {
    weft::pool_options options;
    options.workers = static_cast<decltype(options.workers)>(threads);
    if (stack_bytes != 0) options.stack_size = stack_bytes;
    return options;
  }

  weft::pool pool_;
};

}  // namespace bench
