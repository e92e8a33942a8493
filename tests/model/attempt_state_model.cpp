// An attempt of an instance: who makes it, who runs it and who asks it to stop. One of them ends
// it, and nobody touches its coroutine after that.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>

#include <weft/flow/attempt_state.hpp>

namespace {

using weft::flow::attempt_state;
using reached = attempt_state::reached;

struct attempt_suite {
  std::unique_ptr<attempt_state> state;
  std::unique_ptr<rl::var<int>> coroutine;  // 1: it is there
  std::unique_ptr<rl::var<int>> stops;      // guarded by holding it
  weft::atomic<int> ends{0};
  weft::atomic<int> in_lane{0};

  void set_up() {
    state = std::make_unique<attempt_state>();
    coroutine = std::make_unique<rl::var<int>>();
    stops = std::make_unique<rl::var<int>>();
    (*coroutine)($) = 0;
    (*stops)($) = 0;
    state->make(1);
  }
  void tear_down() {
    RL_ASSERT(ends.load() == 1);
    state.reset();
    coroutine.reset();
    stops.reset();
  }

  // Whoever comes here is alone with the coroutine.
  void drop() {
    (*coroutine)($) = 0;
    ends.fetch_add(1);
  }
  void look() { RL_ASSERT((*coroutine)($) == 1); }

  void make() {
    (*coroutine)($) = 1;
    if (!state->queue()) return drop();
    in_lane.store(1, std::memory_order_relaxed);  // as bare as a lane can be
  }
  void refuse() {
    (*coroutine)($) = 1;
    if (!state->queue()) return drop();
    if (state->take_back()) drop();
  }
  void run_if_queued() {
    if (in_lane.load(std::memory_order_relaxed) == 0) return;
    if (!state->begin()) return;
    look();
    state->end();
    drop();
  }
  void stop() {
    switch (state->stop(1)) {
      case reached::nothing:
      case reached::its_maker:
        return;
      case reached::queued:
        look();
        return drop();
      case reached::running:
        look();
        (*stops)($) = (*stops)($) + 1;
        state->let_go();
    }
  }
  // What nobody has taken out of the lane by the end.
  void clean_up() {
    if (ends.load() == 0) run_if_queued();
  }
};

// One is made, queued and run while another thread asks it to stop.
struct stopped_on_the_way : attempt_suite, rl::test_suite<stopped_on_the_way, 3> {
  void before() { set_up(); }
  void after() {
    clean_up();
    tear_down();
  }
  void thread(unsigned i) {
    if (i == 0) make();
    if (i == 1) run_if_queued();
    if (i == 2) stop();
  }
};

struct refused_and_stopped : attempt_suite, rl::test_suite<refused_and_stopped, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) refuse();
    if (i == 1) stop();
  }
};

// Two hold it in turn while it runs and ends.
struct stopped_and_looked_at : attempt_suite, rl::test_suite<stopped_and_looked_at, 3> {
  void before() {
    set_up();
    make();
  }
  void after() {
    clean_up();
    tear_down();
  }
  void thread(unsigned i) {
    if (i == 0) run_if_queued();
    if (i == 1) stop();
    if (i == 2 && state->hold_to_look()) {
      look();
      (*stops)($) = (*stops)($) + 1;
      state->let_go();
    }
  }
};

// The attempt itself holds it, for a token, while it is asked to stop: it runs, so it must succeed.
struct stopped_while_it_asks : attempt_suite, rl::test_suite<stopped_while_it_asks, 3> {
  void before() {
    set_up();
    make();
    RL_ASSERT(state->begin());
  }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 1) stop();
    if (i == 2) stop();
    if (i != 0) return;
    RL_ASSERT(state->hold());
    (*stops)($) = (*stops)($) + 1;
    state->let_go();
    state->end();
    drop();
  }
};

// Whoever asks it to stop runs what looks at it, and asks once more.
struct stopped_in_a_circle : attempt_suite, rl::test_suite<stopped_in_a_circle, 3> {
  void before() {
    set_up();
    make();
  }
  void after() {
    clean_up();
    tear_down();
  }
  void thread(unsigned i) {
    if (i == 0) run_if_queued();
    if (i != 1) return;
    switch (state->stop(1)) {
      case reached::running:
        RL_ASSERT(!state->hold_to_look());
        RL_ASSERT(state->stop(1) == reached::nothing);
        RL_ASSERT(state->is_made());
        look();
        return state->let_go();
      case reached::queued:
        return drop();
      default:
        return;
    }
  }
};

// Who asks the attempt before to stop comes too late, and this one is not meant.
struct stopped_too_late : attempt_suite, rl::test_suite<stopped_too_late, 3> {
  void before() {
    set_up();
    make();
  }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) run_if_queued();
    if (i == 1) RL_ASSERT(state->stop(0) == reached::nothing);
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<stopped_on_the_way>("attempt: stopped on the way");
  run.run<refused_and_stopped>("attempt: refused and stopped");
  run.run<stopped_and_looked_at>("attempt: stopped and looked at");
  run.run<stopped_while_it_asks>("attempt: stopped while it asks");
  run.run<stopped_in_a_circle>("attempt: stopped in a circle");
  run.run<stopped_too_late>("attempt: stopped too late");
  return run.exit_code();
}
