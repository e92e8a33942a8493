// Two branches that end while the task that waits for them is asked to stop: it goes on once, when
// both have ended, and sees what they did; of when_any one is the winner, and the other is asked to
// stop.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>
#include <model_task.hpp>

#include <coro/branches.cpp>

namespace {

using weft::coro::promise_base;
using weft::model::played_task;

// The first branch begins in the thread that starts both, which then plays it.
template <class Branches>
struct two_branches {
  std::unique_ptr<played_task> parent;
  std::unique_ptr<played_task> branch[2];
  std::unique_ptr<Branches> both;
  rl::var<int> did[2];

  void set_up() {
    parent = std::make_unique<played_task>();
    for (auto& b : branch) b = std::make_unique<played_task>();
    both = std::make_unique<Branches>();
    for (int i = 0; i < 2; ++i) {
      did[i]($) = 0;
      branch[i]->expect_to_go_on();
      std::destroy_at(&branch[i]->promise.waiting());  // start() makes it anew
    }
    parent->expect_to_go_on();
  }
  void tear_down() {
    both.reset();
    for (auto& b : branch) b.reset();
    parent.reset();
  }
  static promise_base& first_of(void* self, std::size_t i) noexcept {
    return static_cast<two_branches*>(self)->branch[i]->promise;
  }
  void end(int i) {
    did[i]($) = 1;
    branch[i]->promise.end();
  }
  // Plays the task that waits, and the first branch.
  bool start() {
    const bool waits = both->start(parent->promise, weft::coro::chain_starts(this, 2, &first_of));
    if (!waits) {
      RL_ASSERT(both->called_off());
      branch[1]->go_on();  // never begins
    }
    return waits;
  }
  void finish() {
    parent->wait();
    both->finish();
    RL_ASSERT(did[0]($) == 1 && did[1]($) == 1);
  }
  void play_second() {
    branch[1]->wait();
    if (!both->called_off()) end(1);
  }
};

struct all_stopped : two_branches<weft::coro::all_branches>, rl::test_suite<all_stopped, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      if (!start()) return;
      end(0);
      finish();
    } else if (i == 1) {
      play_second();
    } else {
      parent->stop();
    }
  }
};

struct any_stopped : two_branches<weft::coro::any_branches>, rl::test_suite<any_stopped, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      if (!start()) return;
      end(0);
      finish();
      const std::size_t winner = both->winner();
      RL_ASSERT(winner < 2);
      RL_ASSERT(branch[1 - winner]->promise.waiting().is_stopped());
      both.reset();  // as the frame it is in
    } else if (i == 1) {
      play_second();
    } else {
      parent->stop();
    }
  }
};

// Nobody else asks to stop: the winner was not asked.
struct any_ended : two_branches<weft::coro::any_branches>, rl::test_suite<any_ended, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      start();
      end(0);
      finish();
      const std::size_t winner = both->winner();
      RL_ASSERT(!branch[winner]->promise.waiting().is_stopped());
      RL_ASSERT(branch[1 - winner]->promise.waiting().is_stopped());
    } else if (i == 1) {
      play_second();
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<all_stopped>("branches: all, and stopped");
  run.run<any_ended>("branches: any");
  run.run<any_stopped>("branches: any, and stopped");
  return run.exit_code();
}
