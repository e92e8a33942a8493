// The pool as a whole, without its queues: shutting down, resizing and waiting at a latch while
// workers come and go.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>

#include <core/bell.cpp>
#include <core/sleep.cpp>

#include <weft/core/latch.hpp>

namespace {

using namespace weft::detail;

struct crew_suite_base {
  std::unique_ptr<weft::detail::sleep> beds;
  std::unique_ptr<sleeper[]> workers;
  weft::atomic<int> queue{0};
  weft::atomic<int> finished{0};

  void set_up(unsigned seats, int beds_count = 2) {
    beds = std::make_unique<weft::detail::sleep>(seats);
    workers = std::make_unique<sleeper[]>(static_cast<std::size_t>(beds_count));
    for (int i = 0; i < beds_count; ++i) beds->add_sleeper(workers[i]);
    beds->show_sleepers();
  }
  void tear_down(int jobs) {
    RL_ASSERT(finished.load() == jobs);
    workers.reset();
    beds.reset();
  }
  bool has_work() { return queue.load() > 0; }
  bool take() {
    int n = queue.load();
    while (n > 0) {
      if (queue.compare_exchange_strong(n, n - 1)) return true;
    }
    return false;
  }
  void push() {
    queue.fetch_add(1);
    beds->work_added();
  }
  void run_worker(sleeper& self) {
    if (beds->first_call(self) == wake_call::exit) return;
    bool searching = true;
    for (;;) {
      if (take()) {
        stop_searching(searching);
        finished.fetch_add(1);
        if (!beds->try_leave_surplus_seat()) continue;
        if (beds->sleep_seatless(self, [this] { return has_work(); }) == wake_call::exit) return;
        searching = true;
        continue;
      }
      if (!searching) beds->start_searching();
      if (beds->sleep_idle(self, [this] { return has_work(); }) == wake_call::exit) {
        return;
      }
      searching = true;
    }
  }
  void stop_searching(bool& searching) {
    if (searching && beds->stop_searching() && has_work()) beds->wake_one();
    searching = false;
  }
  void shut_down() {
    beds->wait_drained([this] { return has_work(); });
    beds->send_all_home();
  }
};

// Everything pushed before the door is shut is done before the workers go home.
struct drain : crew_suite_base, rl::test_suite<drain, 3> {
  void before() { set_up(2); }
  void after() {
    const auto left = beds->read();
    RL_ASSERT(left.searching == 0 && left.suspended == 0);
    tear_down(2);
  }
  void thread(unsigned i) {
    if (i < 2) return run_worker(workers[i]);
    push();
    push();
    shut_down();
  }
};

struct resize_down : crew_suite_base, rl::test_suite<resize_down, 3> {
  void before() { set_up(2); }
  void after() {
    const auto left = beds->read();
    RL_ASSERT(left.vacant == 1 && left.surplus == 0 && left.searching == 0);
    tear_down(2);
  }
  void thread(unsigned i) {
    if (i < 2) return run_worker(workers[i]);
    push();
    push();
    beds->set_seats(1);
    shut_down();
  }
};

struct resize_up : crew_suite_base, rl::test_suite<resize_up, 3> {
  void before() { set_up(1); }
  void after() {
    const auto left = beds->read();
    RL_ASSERT(left.vacant == 2 && left.surplus == 0 && left.searching == 0);
    tear_down(2);
  }
  void thread(unsigned i) {
    if (i < 2) return run_worker(workers[i]);
    push();
    beds->set_seats(2);
    push();
    shut_down();
  }
};

// Smaller and larger again while a worker leaves its surplus seat. One job sits on the other seat
// until the job has run that the leaving worker has left behind.
struct resize_down_and_up : crew_suite_base, rl::test_suite<resize_down_and_up, 3> {
  weft::atomic<int> started{0};
  void before() { set_up(2); }
  void after() { tear_down(3); }
  void wait_until(weft::atomic<int>& counter, int value) {
    rl::backoff pause;
    while (counter.load() < value) pause.yield($);
  }
  void thread(unsigned i) {
    if (i < 2) return run_worker_of_three_jobs(workers[i]);
    push();
    push();
    wait_until(started, 2);
    beds->set_seats(1);
    beds->set_seats(2);
    wait_until(finished, 3);
    shut_down();
  }
  // As worker::push() does, with a queue that needs no fence.
  void spawn() {
    queue.fetch_add(1);
    if (beds->has_vacant_seat()) beds->work_added();
  }
  void run_worker_of_three_jobs(sleeper& self) {
    bool searching = false;
    for (wake_call call = beds->first_call(self); call != wake_call::exit;) {
      searching = searching || call == wake_call::search;
      if (take()) {
        stop_searching(searching);
        const int place = started.fetch_add(1);
        if (place == 0) wait_until(started, 3);
        if (place == 1) spawn();
        finished.fetch_add(1);
        call = wake_call::resume;
        if (beds->try_leave_surplus_seat()) {
          call = beds->sleep_seatless(self, [this] { return has_work(); });
        }
      } else {
        if (!searching) beds->start_searching();
        searching = false;
        call = beds->sleep_idle(self, [this] { return has_work(); });
      }
    }
  }
};

// pool::run against shutdown: a guest that finds the door open is waited for, also with what it
// leaves behind; one that comes later returns its seat, and the worker it belongs to goes home.
struct guest_at_the_end : crew_suite_base, rl::test_suite<guest_at_the_end, 3> {
  weft::atomic<bool> closed{false};
  weft::atomic<int> accepted{0};
  void before() { set_up(1, 1); }
  void after() { tear_down(accepted.load()); }
  void thread(unsigned i) {
    if (i == 0) return run_worker(workers[0]);
    if (i == 1) {
      sleeper* const seat = beds->borrow_seat([this] { return has_work(); });
      if (seat == nullptr) return;
      if (!closed.load()) {
        accepted.fetch_add(1);
        push();
      }
      beds->return_seat(*seat, [this] { return has_work(); });
      return;
    }
    closed.store(true);
    shut_down();
  }
};

// A worker inside a job waits at a latch that the other one sets; while it sleeps its seat is free.
// The latch is gone when the waiter goes on, and the worker is not: worker::sleep_at() and wake().
struct wait_inside_a_job : crew_suite_base, rl::test_suite<wait_inside_a_job, 3> {
  struct helping_waiter final : waiter {
    weft::detail::sleep* beds = nullptr;
    sleeper* bed = nullptr;
    weft::atomic<bool> delivered{false};
    void wake() noexcept override {
      beds->resume(*bed);
      delivered.store(true, std::memory_order_release);
    }
  };
  std::unique_ptr<latch> done;
  std::unique_ptr<helping_waiter> self;
  rl::var<int> result;
  void before() {
    set_up(1, 1);
    done = std::make_unique<latch>();
    self = std::make_unique<helping_waiter>();
    self->beds = beds.get();
    result($) = 0;
  }
  void after() {
    const auto left = beds->read();
    RL_ASSERT(left.searching == 0 && left.suspended == 0 && left.surplus == 0);
    RL_ASSERT(left.vacant == 1);
    tear_down(1);
  }
  void thread(unsigned i) {
    if (i == 0) return run_worker(workers[0]);
    if (i == 1) {
      result($) = 7;
      done->set();
      return;
    }
    // A guest is inside a job and waits; with one seat in all, the queued job needs that seat.
    sleeper* const seat = beds->borrow_seat([this] { return has_work(); });
    RL_ASSERT(seat != nullptr);
    self->bed = seat;
    push();
    bool searching = false;
    while (!done->is_set()) {
      if (!searching) beds->start_searching();
      searching = true;
      const auto slept =
          beds->sleep_at(*done, *self, *seat, sleep_kind::waiting, [this] { return has_work(); });
      searching = slept.call == wake_call::search;
      if (!slept.registered || done->try_unregister(*self)) {
        if (take()) {
          stop_searching(searching);
          finished.fetch_add(1);
        }
        continue;
      }
      rl::backoff pause;
      while (!self->delivered.load(std::memory_order_acquire)) pause.yield($);
    }
    stop_searching(searching);
    RL_ASSERT(result($) == 7);
    done.reset();
    self.reset();
    beds->return_seat(*seat, [this] { return has_work(); });
    shut_down();
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<drain>("shutdown: drains before it ends");
  run.run<resize_down>("resize: down while jobs run");
  run.run<resize_up>("resize: up while jobs run");
  run.run<guest_at_the_end>("shutdown: against a guest");
  run.run<wait_inside_a_job>("wait: inside a job, with one seat");
  run.run<resize_down_and_up>("resize: down and up again", /*largest_bound=*/1);
  return run.exit_code();
}
