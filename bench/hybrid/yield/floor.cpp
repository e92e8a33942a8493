// A queue, and a loop that takes from it: no library, no second thread that could look.

#include <deque>

#include "../../support/detached.hpp"
#include "config.hpp"

namespace {

struct run_queue {
  std::deque<std::coroutine_handle<>> waiting;

  struct awaiter {
    run_queue& queue;
    bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) { queue.waiting.push_back(self); }
    void await_resume() noexcept {}
  };

  void run() {
    while (!waiting.empty()) {
      const auto next = waiting.front();
      waiting.pop_front();
      next.resume();
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::laps laps(options);
  run_queue queue;
  hybrid_yield::yield_often<bench::detached>(laps, [&] { return run_queue::awaiter{queue}; });
  queue.run();
  hybrid_yield::report(laps);
}
