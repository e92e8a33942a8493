#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/base/atomic.hpp>
#include <weft/core/context.hpp>
#include <weft/core/crew_access.hpp>
#include <weft/core/errors.hpp>
#include <weft/core/job_types.hpp>
#include <weft/core/latch.hpp>

namespace weft {

template <class T>
class future;

namespace detail {

[[nodiscard]] std::string no_result_message(const char* name);

// What a job and its future share: one allocation that is the job, its result and the signal.
//
// Two references: the queue's (or the producer's) and the future's. The last one deletes.
class future_state_base : public queued_job {
 public:
  future_state_base(const future_state_base&) = delete;
  future_state_base& operator=(const future_state_base&) = delete;

  latch& done() noexcept { return done_; }
  [[nodiscard]] const latch& done() const noexcept { return done_; }
  crew& home() noexcept { return *crew_; }
  // Whether home() has no threads, so that whoever waits must do the work.
  [[nodiscard]] bool needs_driving() const noexcept { return deterministic_; }

  // Asks the job to stop; one that has not started never will.
  void request_stop() noexcept;
  void add_references(std::uint32_t count) noexcept;
  void release() noexcept;
  // Waits; a worker that may nest no deeper runs the job itself if nobody has begun it, or what it
  // depends on. Throws used_after_fork when the job will never be done; `name` is the call to
  // blame.
  void wait(const char* name);
  // As above; false when the deadline came first.
  bool wait_until(std::chrono::steady_clock::time_point deadline, const char* name);
  // For those who wait in another way: what wait() does first.
  void require_same_process(const char* name) const;
  void run_here_if_at_the_limit() noexcept;

 protected:
  enum class phase : std::uint8_t {
    blocked,  // waits for another future
    ready,    // may be run by whoever claims it
    claimed,  // somebody runs or drops it, or has
  };

  future_state_base(crew& c, phase first) noexcept;
  virtual ~future_state_base() = default;

  // Runs the callable, keeps the outcome, and destroys the callable: what it holds is released
  // before anybody learns that the job is done.
  virtual void produce() noexcept = 0;
  // Destroys the callable, which will not run, and forgets what it depends on.
  virtual void abandon() noexcept = 0;
  virtual void fail(std::exception_ptr) noexcept = 0;
  // A job that this one is blocked on and that is not done, with a reference for the caller; or
  // null.
  virtual future_state_base* retain_input() noexcept { return nullptr; }

  // The job is running already and asked to stop.
  virtual void stop_running() noexcept { stop_.request_stop(); }

  void unblock() noexcept;
  // Whoever gets true runs or drops the job; the others leave it alone.
  [[nodiscard]] bool claim() noexcept;
  void cancel() noexcept;  // by the claimer
  // The future was dropped: nobody will ask for the outcome.
  [[nodiscard]] bool is_unobserved() const noexcept {
    return references_.load(std::memory_order_acquire) == 1;  // with release()
  }
  // By the claimer, when the outcome is there: tells the waiter, and gives the queue's reference
  // up.
  void finish() noexcept;

  std::stop_source stop_{std::nostopstate};  // has a state when the callable wants a token

 private:
  static void called(job& self, job_fate fate) noexcept;
  [[nodiscard]] bool claim_if_ready() noexcept;
  bool run_here() noexcept;

  crew* crew_;  // may be gone, with its pool, when the job is done
  latch done_;
  atomic<std::uint32_t> references_{2};  // acq_rel: the last to go sees what the other did
  const std::uint32_t process_;          // the fork generation it was made in
  const bool deterministic_;             // the pool has no threads: whoever waits must do the work
  atomic<phase> phase_;                  // moved on by whoever unblocks, runs or drops the job
};

// Now plus `time`, or the last moment the clock can tell: users wait for hours::max() and mean
// ever.
template <class Rep, class Period>
std::chrono::steady_clock::time_point deadline_after(std::chrono::duration<Rep, Period> time) {
  using clock = std::chrono::steady_clock;
  const clock::time_point now = clock::now();
  if (time <= time.zero()) return now;
  // Compared in floating point: the longest durations overflow the unit of the clock.
  using seconds = std::chrono::duration<double>;
  if (seconds(time) >= seconds(clock::time_point::max() - now)) return clock::time_point::max();
  return now + std::chrono::ceil<clock::duration>(time);
}

template <class T>
class future_state : public future_state_base {
 public:
  outcome<T>& result() noexcept { return result_; }

 protected:
  using future_state_base::future_state_base;
  using typename future_state_base::phase;
  void fail(std::exception_ptr error) noexcept override { result_.fail(std::move(error)); }

  outcome<T> result_;
};

template <class T, class F, class... Args>
class submitted_job final : public future_state<T>, public job_memory {
 public:
  template <class G, class... As>
  explicit submitted_job(crew& c, G&& f, As&&... args)
      : future_state<T>(c, future_state_base::phase::ready),
        call_(std::in_place, std::forward<G>(f), std::forward<As>(args)...) {
    if constexpr (takes_stop_token<F, Args...>) this->stop_ = std::stop_source();
  }

 private:
  void produce() noexcept override {
    if constexpr (takes_stop_token<F, Args...>) {
      // A pool that is cancelled asks its running jobs to stop.
      const std::stop_callback forward(stop_token_of(this->home()),
                                       [this] { this->stop_.request_stop(); });
      call_it();
    } else {
      call_it();
    }
    call_.reset();
  }
  void abandon() noexcept override { call_.reset(); }
  void call_it() noexcept {
    this->result_.fill([this]() -> T {
      return std::apply(
          [this](F&& f, Args&&... args) -> T {
            return invoke_with_token(this->stop_.get_token(), std::move(f), std::move(args)...);
          },
          std::move(*call_));
    });
  }

  std::optional<std::tuple<F, Args...>> call_;
};

}  // namespace detail

// The result of a submitted job, to be had once.
//
// Threads: one at a time. Blocks: get() and wait(); a worker that waits runs other jobs meanwhile.
// Errors: get() throws what the job threw, or cancelled; on a future without a result
//   (default-made, moved from, or asked before) every member throws std::logic_error.
// Lifetime: may outlive its job and its pool, and be dropped without waiting; the job runs all the
//   same. What the callable holds is destroyed before the future is ready. then() and when_all()
//   need the pool alive; what they made does not.
template <class T>
class [[nodiscard]] future {
 public:
  using value_type = T;

  future() noexcept = default;
  future(future&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  future& operator=(future&& other) noexcept {
    if (this != &other) {
      reset();
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~future() { reset(); }

  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  [[nodiscard]] bool ready() const { return state("future::ready").done().is_set(); }

  void wait() const { state("future::wait").wait("future::wait"); }
  // Whether the result is there. On a worker it helps meanwhile, which may take longer.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> time) const {
    return state("future::wait_for").wait_until(detail::deadline_after(time), "future::wait_for");
  }

  T get() {
    state("future::get").wait("future::get");
    const owner keep(std::exchange(state_, nullptr));
    if constexpr (std::is_void_v<T>) {
      keep.state->result().take();
    } else {
      return keep.state->result().take();
    }
  }

  // Asks the job to stop: its stop_token says so; a job that has not started is dropped, and get()
  // throws cancelled.
  void request_stop() const { state("future::request_stop").request_stop(); }

  // f(value) as a job of the pool that made the value. If the job failed, f is not called and the
  // new future has the same exception. Uses this future up.
  template <class F>
  auto then(F&& f) &&;

 private:
  friend class pool;
  template <class U>
  friend class future;
  template <class U>
  friend detail::future_state<U>& state_of(future<U>& f, const char* name);

  struct owner {
    explicit owner(detail::future_state<T>* s) noexcept : state(s) {}
    ~owner() { state->release(); }
    owner(const owner&) = delete;
    owner& operator=(const owner&) = delete;
    detail::future_state<T>* state;
  };

  explicit future(detail::future_state<T>* s) noexcept : state_(s) {}
  void reset() noexcept {
    if (state_ != nullptr) std::exchange(state_, nullptr)->release();
  }
  [[nodiscard]] detail::future_state<T>& state(const char* name) const {
    if (state_ == nullptr) throw std::logic_error(detail::no_result_message(name));
    return *state_;
  }

  detail::future_state<T>* state_ = nullptr;

  template <class U>
  friend future<U> adopt_state(detail::future_state<U>* s);
};

// For combinators: the state of a future, a future out of a state.
template <class U>
detail::future_state<U>& state_of(future<U>& f, const char* name) {
  if (!f.valid()) throw std::logic_error(detail::no_result_message(name));
  return *f.state_;
}
template <class U>
future<U> adopt_state(detail::future_state<U>* s) {
  return future<U>(s);
}

namespace detail {

template <class F, class T>
struct then_result : token_invoke_result<F, T> {
  static constexpr bool wants_token = takes_stop_token<F, T>;
};
template <class F>
struct then_result<F, void> : token_invoke_result<F> {
  static constexpr bool wants_token = takes_stop_token<F>;
};

// The job that then() makes: it is the waiter of the state before it, and goes on when that is
// done.
template <class T, class Before, class F>
class continuation final : public future_state<T>, public waiter, public job_memory {
 public:
  template <class G>
  continuation(future_state<Before>& before, G&& f)
      : future_state<T>(before.home(), future_state_base::phase::blocked),
        home_(before.home()),
        context_(context::current()),
        before_(&before),
        f_(std::in_place, std::forward<G>(f)) {
    if constexpr (then_result<F, Before>::wants_token) this->stop_ = std::stop_source();
  }

  void start() noexcept {
    if (!before_->done().try_register(*this)) wake();
  }
  void wake() noexcept override {
    this->unblock();
    continue_with(this->home(), *this);
  }

 private:
  ~continuation() override { forget_input(); }
  future_state_base* retain_input() noexcept override {
    const std::lock_guard lock(input_mutex_);
    if (before_ == nullptr || before_->done().is_set()) return nullptr;
    before_->add_references(1);
    return before_;
  }
  // As soon as it is used: a long chain must not be freed by recursion.
  void forget_input() noexcept {
    future_state<Before>* input = nullptr;
    {
      const std::lock_guard lock(input_mutex_);
      input = std::exchange(before_, nullptr);
    }
    if (input != nullptr) input->release();
  }
  void produce() noexcept override {
    const work_scope scope(context_);
    if (before_->result().failed()) {
      this->result_.fail(before_->result().error());
    } else {
      this->result_.fill([this]() -> T {
        if constexpr (std::is_void_v<Before>) {
          return invoke_with_token(this->stop_.get_token(), std::move(*f_));
        } else {
          return invoke_with_token(this->stop_.get_token(), std::move(*f_),
                                   before_->result().take());
        }
      });
    }
    abandon();
  }
  void abandon() noexcept override {
    f_.reset();
    forget_input();
  }

  const crew_reference home_;  // its pool may go before the input is there
  const context context_;      // of whoever called then()
  std::mutex input_mutex_;
  future_state<Before>* before_;  // guarded by input_mutex_ against retain_input()
  std::optional<F> f_;
};

}  // namespace detail

template <class T>
template <class F>
auto future<T>::then(F&& f) && {
  using function = std::decay_t<F>;
  using result = typename detail::then_result<function, T>::type;
  detail::require_callable(f, "future::then");
  auto& before = state("future::then");
  auto* next = new detail::continuation<result, T, function>(before, std::forward<F>(f));
  state_ = nullptr;  // the continuation owns it now
  future<result> f2 = adopt_state<result>(next);
  next->start();
  return f2;
}

}  // namespace weft
