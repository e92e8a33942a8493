// Who wakes whom: no job is left while everybody sleeps. Work is a counter here; the deque has a
// model of its own. A lost wake-up shows as a deadlock, because the workers go home only when the
// last job is done.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>

#include <core/bell.cpp>
#include <core/sleep.cpp>

#include <weft/core/fork_context.hpp>

namespace {

using namespace weft::detail;

struct sleep_suite_base {
  std::unique_ptr<weft::detail::sleep> beds;
  std::unique_ptr<sleeper[]> workers;
  weft::atomic<int> queue{0};   // jobs that anyone may take
  weft::atomic<int> hidden{0};  // jobs pushed the way a fork pushes: no fence, a plain poll
  weft::atomic<int> finished{0};
  int jobs = 0;

  void set_up(unsigned seats, int count, unsigned beds_count = 2, bool fenced = false) {
    jobs = count;
    beds = std::make_unique<weft::detail::sleep>(seats, fenced);
    workers = std::make_unique<sleeper[]>(beds_count);
    for (unsigned i = 0; i < beds_count; ++i) beds->add_sleeper(workers[i]);
    beds->show_sleepers();
  }
  void tear_down() {
    RL_ASSERT(finished.load() == jobs);
    const auto left = beds->read();
    RL_ASSERT(left.searching == 0);
    workers.reset();
    beds.reset();
  }

  bool has_work() { return queue.load() > 0 || hidden.load() > 0; }
  bool take_from(weft::atomic<int>& source) {
    int n = source.load();
    while (n > 0) {
      if (source.compare_exchange_strong(n, n - 1)) return true;
    }
    return false;
  }
  void finish_one() {
    if (finished.fetch_add(1) + 1 == jobs) beds->send_all_home();
  }

  void push_from_outside() {
    queue.fetch_add(1);
    beds->work_added();
  }
  // As fork_context::fork() does.
  void push_from_job() {
    hidden.store(hidden.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    light_fence();
    if (is_demanded(beds->word().load(std::memory_order_relaxed))) {
      beds->work_added();
    }
  }

  // As worker::give_away() does without membarrier: `hidden` is the deque's split.
  void push_fenced() {
    hidden.exchange(hidden.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    if (beds->has_vacant_seat()) beds->work_added();
  }

  // worker::run(), with a search of one look.
  void run_worker(sleeper& self) {
    if (beds->first_call(self) == wake_call::exit) return;
    bool searching = true;
    for (;;) {
      if (take_from(queue) || take_from(hidden)) {
        if (searching) stop_searching();
        searching = false;
        finish_one();
        continue;
      }
      if (!searching) beds->start_searching();
      if (beds->sleep_idle(self, [this] { return has_work(); }) == wake_call::exit) {
        return;
      }
      searching = true;
    }
  }
  void stop_searching() {
    if (beds->stop_searching() && has_work()) beds->wake_one();
  }
};

struct outside_pushes : sleep_suite_base, rl::test_suite<outside_pushes, 3> {
  void before() { set_up(2, 2); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < 2) return run_worker(workers[i]);
    push_from_outside();
    push_from_outside();
  }
};

// Both jobs wait for each other's start: no job may be left to a worker that is busy with the
// other.
struct every_worker_is_called : sleep_suite_base, rl::test_suite<every_worker_is_called, 3> {
  weft::atomic<int> started{0};
  void before() { set_up(2, 2); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 2) {
      push_from_outside();
      push_from_outside();
      return;
    }
    if (beds->first_call(workers[i]) == wake_call::exit) return;
    for (;;) {
      if (take_from(queue)) {
        stop_searching();
        started.fetch_add(1);
        rl::backoff pause;
        while (started.load() < 2) pause.yield($);
        finish_one();
        return;
      }
      if (beds->sleep_idle(workers[i], [this] { return has_work(); }) == wake_call::exit) {
        return;
      }
    }
  }
};

// A borrowed seat: the guest pushes as a fork does and then sits in a long leaf; the job must be
// done by the other worker before the leaf ends.
struct fork_into_a_sleeping_pool : sleep_suite_base, rl::test_suite<fork_into_a_sleeping_pool, 3> {
  void before() { set_up(2, 1); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < 2) return run_worker(workers[i]);
    sleeper* const seat = beds->borrow_seat([this] { return has_work(); });
    RL_ASSERT(seat != nullptr);
    push_from_job();
    rl::backoff pause;
    while (finished.load() < 1) pause.yield($);
    beds->return_seat(*seat, [this] { return has_work(); });
  }
};

// The same against a worker that has just finished a job and is on its way to bed.
struct fork_against_falling_asleep : sleep_suite_base,
                                     rl::test_suite<fork_against_falling_asleep, 3> {
  void before() { set_up(2, 2); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < 2) return run_worker(workers[i]);
    push_from_outside();
    sleeper* const seat = beds->borrow_seat([this] { return has_work(); });
    if (seat == nullptr) return push_from_outside();
    push_from_job();
    rl::backoff pause;
    while (finished.load() < 2) pause.yield($);
    beds->return_seat(*seat, [this] { return has_work(); });
  }
};

// Without membarrier: a job is made public, then the word is read, and no fence is sent.
struct fenced_fork_against_falling_asleep : sleep_suite_base,
                                            rl::test_suite<fenced_fork_against_falling_asleep, 3> {
  void before() { set_up(2, 2, 2, /*fenced=*/true); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < 2) return run_worker(workers[i]);
    push_from_outside();
    sleeper* const seat = beds->borrow_seat([this] { return has_work(); });
    if (seat == nullptr) return push_from_outside();
    push_fenced();
    rl::backoff pause;
    while (finished.load() < 2) pause.yield($);
    beds->return_seat(*seat, [this] { return has_work(); });
  }
};

// A guest that leaves work behind when it returns its seat.
struct guest_leaves_work : sleep_suite_base, rl::test_suite<guest_leaves_work, 3> {
  void before() { set_up(1, 1, 1); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) return run_worker(workers[0]);
    if (i == 1) return;
    sleeper* const seat = beds->borrow_seat([this] { return has_work(); });
    RL_ASSERT(seat != nullptr);
    push_from_job();
    beds->return_seat(*seat, [this] { return has_work(); });
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<outside_pushes>("sleep: pushes from outside");
  run.run<every_worker_is_called>("sleep: every worker is called");
  run.run<fork_into_a_sleeping_pool>("sleep: fork into a sleeping pool");
  run.run<fork_against_falling_asleep>("sleep: fork against falling asleep");
  run.run<fenced_fork_against_falling_asleep>("sleep: fenced fork against falling asleep");
  run.run<guest_leaves_work>("sleep: a guest leaves work behind");
  return run.exit_code();
}
