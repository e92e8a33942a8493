// Coroutines in a list, in one thread: what a frame and two pointers cost.

#include <coroutine>

#include "../../support/detached.hpp"
#include "config.hpp"

namespace {

class event {
 public:
  struct awaiter {
    event& of;
    std::coroutine_handle<> self;
    awaiter* next = nullptr;
    bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) noexcept {
      self = handle;
      next = of.waiting_;
      of.waiting_ = this;
    }
    void await_resume() noexcept {}
  };

  awaiter wait() { return {*this, {}}; }

  void set() {
    while (waiting_ != nullptr) {
      awaiter* const first = waiting_;
      waiting_ = first->next;  // Before the frame, in which it is, goes.
      first->self.resume();
    }
  }

 private:
  awaiter* waiting_ = nullptr;
};

bench::detached wait_for(event& happened) { co_await happened.wait(); }

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  event happened;
  hybrid_suspended::measure(
      options,
      [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) wait_for(happened);
      },
      [&] { happened.set(); });
}
