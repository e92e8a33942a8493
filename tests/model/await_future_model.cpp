// A task that waits for a latch and is called away: it goes on once, with the result or without,
// and its wait is touched by nobody afterwards.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>
#include <model_task.hpp>

#include <coro/await_future.cpp>

namespace {

using weft::coro::latch_wait;
using weft::model::played_task;

struct called_away : rl::test_suite<called_away, 3> {
  alignas(latch_wait) std::byte memory[sizeof(latch_wait)];
  std::unique_ptr<played_task> task;
  std::unique_ptr<weft::detail::latch> done;
  rl::var<int> result;

  struct awaitable {
    bool await_suspend(std::coroutine_handle<weft::coro::promise_base> h) {
      return wait.suspend(h.promise(), done);
    }
    bool await_resume() { return wait.finish(); }
    latch_wait& wait;
    weft::detail::latch& done;
  };

  void before() {
    task = std::make_unique<played_task>();
    done = std::make_unique<weft::detail::latch>();
    result($) = 0;
  }
  void after() {
    task.reset();
    done.reset();
  }
  void thread(unsigned i) {
    if (i == 1) {
      result($) = 42;
      done->set();
    } else if (i == 2) {
      task->stop();
    } else {
      auto* const wait = new (memory) latch_wait;
      awaitable a{*wait, *done};
      task->await(a);
      if (task->result()) RL_ASSERT(result($) == 42);
      std::destroy_at(wait);
      std::memset(memory, 0xdd, sizeof memory);
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<called_away>("future: awaited and called away");
  return run.exit_code();
}
