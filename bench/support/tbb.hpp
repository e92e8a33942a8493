#pragma once

#include <cstddef>
#include <optional>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace bench {

// oneTBB with exactly `threads` threads, more than there are cores if asked. The caller takes part
// in the arena.
class tbb_runtime {
 public:
  // A stack size of 0 leaves the library's default.
  explicit tbb_runtime(int threads, std::size_t stack_bytes = 0)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena_(threads) {
    if (stack_bytes != 0) stack_.emplace(tbb::global_control::thread_stack_size, stack_bytes);
  }

  template <class F>
  auto run(F&& f) {
    return arena_.execute(f);
  }

  // Calls body(spawn) inside the arena and waits for every task it spawned.
  template <class Body>
  void scope(Body&& body) {
    run([&] {
      tbb::task_group group;
      body([&](auto task) { group.run(task); });
      group.wait();
    });
  }

  template <class F>
  void spawn(F f) {
    arena_.enqueue(f);
  }

 private:
  tbb::global_control limit_;
  std::optional<tbb::global_control> stack_;
  tbb::task_arena arena_;
};

}  // namespace bench
