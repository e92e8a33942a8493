// The limiter with three threads that want a permit while the limit changes: never more at once
// than allowed, and everybody gets one in the end.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>

#include <core/bell.cpp>
#include <core/limiter.cpp>

namespace weft::detail {

// As in src/core/wait.cpp, without the worker.
struct blocked final : waiter {
  bell b;
  void wake() noexcept override { b.ring(1); }
};
std::unique_ptr<blocked> blocked_threads[WEFT_MODEL_THREADS];

void wait_without_helping(latch& done) noexcept {
  blocked& self = *blocked_threads[rl::ctx().threadx_->index_];
  if (done.try_register(self)) self.b.wait();
}

}  // namespace weft::detail

namespace {

using weft::limiter;

struct limiter_suite_base {
  std::unique_ptr<limiter> limit;
  weft::atomic<int> inside{0};
  rl::var<int> guarded;  // with one permit in all, the limiter is a mutex

  void set_up(std::size_t permits) {
    limit = std::make_unique<limiter>(permits);
    for (auto& b : weft::detail::blocked_threads) b = std::make_unique<weft::detail::blocked>();
    guarded($) = 0;
  }
  void tear_down() {
    RL_ASSERT(limit->in_use() == 0 && limit->waiting() == 0);
    limit.reset();
    for (auto& b : weft::detail::blocked_threads) b.reset();
  }
  void use(int most) {
    RL_ASSERT(inside.fetch_add(1) < most);
    inside.fetch_sub(1);
  }
};

struct one_at_a_time : limiter_suite_base, rl::test_suite<one_at_a_time, 3> {
  void before() { set_up(1); }
  void after() {
    RL_ASSERT(guarded($) == 3);
    tear_down();
  }
  void thread(unsigned) {
    auto permit = limit->acquire();
    use(1);
    guarded($) = guarded($) + 1;
  }
};

struct opened_from_zero : limiter_suite_base, rl::test_suite<opened_from_zero, 3> {
  void before() { set_up(0); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 2) return limit->set_limit(1);
    auto permit = limit->acquire();
    use(1);
    guarded($) = guarded($) + 1;
  }
};

struct callback_and_try : limiter_suite_base, rl::test_suite<callback_and_try, 3> {
  weft::atomic<int> called{0};
  void before() { set_up(1); }
  void after() {
    RL_ASSERT(called.load() == 1);
    tear_down();
  }
  void thread(unsigned i) {
    if (i == 0) {
      limit->acquire([this](limiter::permit) {
        use(1);
        called.fetch_add(1);
      });
    } else if (i == 1) {
      if (auto permit = limit->try_acquire()) use(1);
    } else {
      auto permit = limit->acquire();
      use(1);
    }
  }
};

// A request that is withdrawn while a permit comes back: granted or withdrawn, once.
template <std::size_t Permits>
struct withdrawn : limiter_suite_base, rl::test_suite<withdrawn<Permits>, 3> {
  struct waiting_request final : limiter::request {
    void grant(limiter::permit p) noexcept override {
      granted = std::move(p);
      go_on();
    }
    void go_on() {
      RL_ASSERT(went_on.fetch_add(1) == 0);
      b.ring(1);
    }
    limiter::permit granted;
    weft::atomic<int> went_on{0};
    weft::detail::bell b;
  };
  std::unique_ptr<waiting_request> wanted;
  void before() {
    set_up(Permits);
    wanted = std::make_unique<waiting_request>();
  }
  void after() {
    wanted.reset();
    tear_down();
  }
  void thread(unsigned i) {
    if (i == 0) {
      if (Permits == 0) return;  // only the withdrawal ends the wait
      auto permit = limit->acquire();
      use(1);
      guarded($) = guarded($) + 1;
    } else if (i == 1) {
      if (limit->withdraw(*wanted)) wanted->go_on();
    } else {
      want();
    }
  }
  void want() {
    switch (limit->take_or_queue(*wanted)) {
      case limiter::claim::taken:
        wanted->granted = limit->wrap();
        break;
      case limiter::claim::queued:
        wanted->b.wait();
        break;
      case limiter::claim::withdrawn:
        return;
    }
    if (!wanted->granted) return;
    use(1);
    guarded($) = guarded($) + 1;
    wanted->granted = {};
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<one_at_a_time>("limiter: one at a time");
  run.run<opened_from_zero>("limiter: opened from zero");
  run.run<callback_and_try>("limiter: callbacks and tries");
  run.run<withdrawn<1>>("limiter: withdrawn while a permit comes");
  run.run<withdrawn<0>>("limiter: withdrawn without a permit");
  return run.exit_code();
}
