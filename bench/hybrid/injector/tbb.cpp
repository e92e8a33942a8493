#include "config.hpp"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace {

// The main thread only submits, so it is neither in the arena nor one of its threads.
class runtime_of_arena {
 public:
  explicit runtime_of_arena(int threads)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads) + 1),
        arena_(threads, 0) {}
  ~runtime_of_arena() {
    arena_.execute([this] { group_.wait(); });
  }
  runtime_of_arena(const runtime_of_arena&) = delete;
  runtime_of_arena& operator=(const runtime_of_arena&) = delete;

  template <class F>
  void spawn(F f) {
    arena_.enqueue(std::move(f));
  }
  // Into the queue of the worker that calls it.
  template <class F>
  void respawn(F f) {
    group_.run(std::move(f));
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
  tbb::task_group group_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  runtime_of_arena runtime(options.threads);
  hybrid_injector::measure(options, runtime);
}
