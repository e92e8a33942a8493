// A latch whose waiter destroys it as soon as it may, and a join of an owner with a thief: the
// setter touches nothing that is gone, and the waiter sees the result.

#define WEFT_MODEL_THREADS 2
#include <model.hpp>

#include <core/bell.cpp>
#include <core/deque.cpp>

#include <weft/core/latch.hpp>

namespace {

using namespace weft::detail;

// As blocked_thread in src/core/wait.cpp. The suites keep it: the futex of the model, unlike the
// real one, cannot wake an address that is gone.
struct blocked final : waiter {
  bell b;
  void wake() noexcept override { b.ring(1); }
};

struct waiter_destroys_the_latch : rl::test_suite<waiter_destroys_the_latch, 2> {
  alignas(latch) std::byte memory[sizeof(latch)];
  latch* done = nullptr;
  std::unique_ptr<blocked> self;
  rl::var<int> result;
  void before() {
    done = new (memory) latch;
    self = std::make_unique<blocked>();
    result($) = 0;
  }
  void after() { self.reset(); }
  void thread(unsigned i) {
    if (i == 0) {
      result($) = 42;
      done->set();
      return;
    }
    if (done->try_register(*self)) self->b.wait();
    RL_ASSERT(done->is_set());
    RL_ASSERT(result($) == 42);
    // Destroyed, and its memory used for something else at once.
    std::destroy_at(done);
    std::memset(memory, 0xdd, sizeof memory);
  }
};

// The wait gives up (a deadline): either it withdraws, or it waits for the ring that is under way.
struct waiter_gives_up : rl::test_suite<waiter_gives_up, 2> {
  std::unique_ptr<latch> done;
  std::unique_ptr<blocked> self;
  rl::var<int> result;
  void before() {
    done = std::make_unique<latch>();
    self = std::make_unique<blocked>();
    result($) = 0;
  }
  void after() {
    done.reset();
    self.reset();
  }
  void thread(unsigned i) {
    if (i == 0) {
      result($) = 42;
      done->set();
      return;
    }
    if (!done->try_register(*self)) return check();
    if (done->try_unregister(*self)) return;
    self->b.wait();
    check();
  }
  void check() { RL_ASSERT(result($) == 42); }
};

// join: fork, run the left side, take the right side back or wait for the thief.
struct join_with_a_thief : rl::test_suite<join_with_a_thief, 2> {
  struct right_side : job {
    latch done;
    rl::var<int> result;
    rl::var<int> input;
  };
  std::unique_ptr<deque> queue;
  std::unique_ptr<blocked> self;
  void before() {
    queue = std::make_unique<deque>(2);
    self = std::make_unique<blocked>();
  }
  void after() {
    queue.reset();
    self.reset();
  }
  void thread(unsigned i) {
    if (i == 0) {
      own();
    } else {
      deque_thief(*queue).seize();
      const steal_result r = deque_thief(*queue).steal();
      if (r.status == steal_status::stolen) run(static_cast<right_side&>(*r.job.get()));
    }
  }
  void run(right_side& right) {
    right.result($) = right.input($) + 1;
    right.done.set();
  }
  void own() {
    right_side right;
    right.input($) = 41;
    right.result($) = 0;
    deque_owner owner(*queue);
    const auto mark = owner.push(job_ref::single(right));
    if (owner.try_take_back(mark)) {
      right.result($) = right.input($) + 1;
    } else if (owner.pop()) {
      right.result($) = right.input($) + 1;
    } else {
      if (right.done.try_register(*self)) self->b.wait();
    }
    RL_ASSERT(right.result($) == 42);
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<waiter_destroys_the_latch>("latch: the waiter destroys it");
  run.run<waiter_gives_up>("latch: the waiter gives up");
  run.run<join_with_a_thief>("join: taken back or stolen");
  return run.exit_code();
}
