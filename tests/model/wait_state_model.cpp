// What a chain waits for: a granter and a stopper race for who goes on with it, and a reader asks
// what it is. One goes on with it, nobody touches a wait that is over, and no stop is lost.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>

#include <core/bell.cpp>

#include <weft/coro/wait_state.hpp>

namespace {

using weft::coro::wait_state;
using weft::detail::job_list;
using weft::detail::queued_job;

// A wait with a lock of its own, as that for a permit.
struct door_wait final : weft::coro::wait {
  enum class phase { fresh, queued, granted, withdrawn };

  void give_up(job_list& released) noexcept override {
    RL_ASSERT(alive($) == 1);
    const std::lock_guard guard(lock);
    const bool was_queued = at == phase::queued;
    if (at != phase::granted) at = phase::withdrawn;
    if (was_queued) released.push_back(self);
  }
  [[nodiscard]] const char* what() const noexcept override {
    RL_ASSERT(alive($) == 1);
    return "a door";
  }

  // False when there is nothing to wait for.
  bool queue() {
    const std::lock_guard guard(lock);
    if (at != phase::fresh || open) return false;
    at = phase::queued;
    return true;
  }
  bool grant() {
    const std::lock_guard guard(lock);
    open = true;
    if (at != phase::queued) return false;
    at = phase::granted;
    return true;
  }

  weft::mutex lock;
  phase at = phase::fresh;
  bool open = false;
  queued_job self;
  mutable rl::var<int> alive;  // the frame it lives in
};

struct wait_suite {
  std::unique_ptr<wait_state> state;
  std::unique_ptr<door_wait> doors[2];
  std::unique_ptr<weft::detail::bell> resumed;
  weft::atomic<int> resumptions{0};
  int waits = 0;

  void set_up() {
    state = std::make_unique<wait_state>();
    resumed = std::make_unique<weft::detail::bell>();
    for (auto& d : doors) d = std::make_unique<door_wait>();
    waits = 0;
  }
  void tear_down() {
    RL_ASSERT(resumptions.load() == waits);
    state.reset();
    for (auto& d : doors) d.reset();
    resumed.reset();
  }

  // False when it was asked to stop.
  bool wait_at(door_wait& d) {
    d.alive($) = 1;  // publishing it is what begin() is for
    if (!state->begin(d)) return false;
    if (d.queue()) {
      ++waits;
      resumed->wait();
    }
    state->end();
    d.alive($) = 0;  // a race with whoever still looks
    return true;
  }
  void go_on() {
    resumptions.fetch_add(1);
    resumed->ring(1);
  }
  void grant(door_wait& d) {
    if (d.grant()) go_on();
  }
  void stop() {
    job_list released;
    state->stop(released);
    if (released.pop_front() != nullptr) go_on();
  }
  void read() {
    const char* const text = state->what();
    RL_ASSERT(text == nullptr || text[0] == 'a');
  }
};

struct granted_and_stopped : wait_suite, rl::test_suite<granted_and_stopped, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      wait_at(*doors[0]);
    } else if (i == 1) {
      grant(*doors[0]);
    } else {
      stop();
      RL_ASSERT(state->is_stopped());
    }
  }
};

// The second door is opened by nobody: if the stop is lost, the chain waits for ever.
struct stop_is_not_lost : wait_suite, rl::test_suite<stop_is_not_lost, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      wait_at(*doors[0]);
      wait_at(*doors[1]);
    } else if (i == 1) {
      grant(*doors[0]);
    } else {
      stop();
    }
  }
};

struct read_meanwhile : wait_suite, rl::test_suite<read_meanwhile, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      wait_at(*doors[0]);
      wait_at(*doors[1]);
    } else if (i == 1) {
      grant(*doors[0]);
      grant(*doors[1]);
    } else {
      read();
      read();
    }
  }
};

struct read_and_stopped : wait_suite, rl::test_suite<read_and_stopped, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      wait_at(*doors[0]);
    } else if (i == 1) {
      stop();
    } else {
      read();
    }
  }
};

// Two who ask to stop: one gives the wait up.
struct stopped_twice : wait_suite, rl::test_suite<stopped_twice, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      wait_at(*doors[0]);
    } else {
      stop();
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<granted_and_stopped>("wait: granted and stopped");
  run.run<stop_is_not_lost>("wait: a stop is not lost");
  run.run<read_meanwhile>("wait: read meanwhile");
  run.run<read_and_stopped>("wait: read and stopped");
  run.run<stopped_twice>("wait: stopped twice");
  return run.exit_code();
}
