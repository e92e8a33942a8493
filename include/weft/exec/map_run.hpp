#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <weft/core/crew_access.hpp>
#include <weft/core/errors.hpp>
#include <weft/core/job_types.hpp>
#include <weft/core/parallel/early_exit.hpp>
#include <weft/exec/errors.hpp>
#include <weft/exec/map_input.hpp>
#include <weft/exec/map_options.hpp>
#include <weft/exec/ready_list.hpp>
#include <weft/exec/work_control.hpp>

namespace weft::detail {

enum class delivery : std::uint8_t { in_order, as_completed };

// Throws std::invalid_argument for what makes no sense.
void check_options(const map_options& options);
[[nodiscard]] std::string used_after_fork_message();
[[nodiscard]] std::string timed_out_message(std::size_t index, std::chrono::nanoseconds timeout);

// One map, from begin() to its end: reads the input ahead, hands items in chunks to the pool, and
// gives the results out.
//
// In order it fails as the loop does. Let k be the lowest index whose call, whose item or whose
// result cannot be had:
//   1. results 0..k-1 are given out, then k's exception is thrown;
//   2. when an item fails, the ones before it still run: k may be among them. None after it begins;
//   3. item i begins only while i < index of the next result + look_ahead, and the input is read no
//      further;
//   4. leaving early asks the running items to stop and waits for them.
//
// Threads: the consumer's, except where it says "by a worker".
template <delivery Order, class F, class... Views>
class map_run {
  using clock = std::chrono::steady_clock;
  using input = map_input<Views...>;
  using call = map_call<F, Views...>;

 public:
  using result = typename call::result;

  map_run(work_control& control, const map_options& options, F f, Views... views)
      : control_(control), options_(options), f_(std::move(f)), input_(std::move(views)...) {
    check_options(options_);
  }
  ~map_run() { finish(); }
  map_run(const map_run&) = delete;
  map_run& operator=(const map_run&) = delete;

  void start() {
    if (started_) {
      throw std::logic_error(
          "weft: begin() was called twice on the range of executor::map, which runs once; call map "
          "again");
    }
    started_ = true;
    share_.emplace(work_share::of_map(control_));
    from_inside_ = work_control::is_inside_item();
    workers_ = control_.home().workers();
    look_ahead_ = options_.look_ahead.value_or(16 * workers_);
    if (options_.timeout) deadline_ = deadline_after(*options_.timeout);
    advance();
  }

  // Goes to the next result; at_end() when there is none. Throws what the loop would.
  void advance() {
    if (head_ != nullptr) ++position_;
    for (;;) {
      if (head_ != nullptr && position_ == head_->size) retire_head();
      fill();
      if (head_ == nullptr) take_head();
      if (head_ == nullptr) return end();
      slot& s = head_->slots[position_];
      if (s.answer.has_value()) return;
      reject(s, head_->first + position_);
    }
  }
  [[nodiscard]] bool at_end() const noexcept { return ended_; }
  auto& current() noexcept { return head_->slots[position_].answer.value(); }

 private:
  struct slot {
    std::optional<typename input::items> items;  // until the function has run
    outcome<result> answer;                      // neither value nor failure: not run
  };

  struct chunk final : queued_job, ready_list::node, job_memory {
    chunk(map_run& owner, std::size_t first_index, std::size_t capacity)
        : run(owner), first(first_index), slots(std::make_unique<slot[]>(capacity)) {
      call = &called;
    }
    // By a worker. A chunk that is dropped has only items that were not run.
    static void called(job& self, job_fate fate) noexcept {
      auto& me = static_cast<chunk&>(self);
      if (fate == job_fate::run) me.run.run_items(me);
      if constexpr (Order == delivery::in_order) {
        me.done.set();  // `me` and its run may be gone from here on
      } else {
        me.run.ready_.push(me);  // as above
      }
    }

    map_run& run;
    const std::size_t first;
    std::size_t size = 0;
    std::unique_ptr<slot[]> slots;
    std::size_t ran = 0;
    std::chrono::nanoseconds took{};
    latch done;  // in order
  };

  // By a worker.
  void run_items(chunk& c) noexcept {
    if (control_.is_cancelled()) return;
    admission admitted(control_, from_inside_);
    const clock::time_point begun = clock::now();
    if (begun >= deadline_) return;
    while (c.ran < c.size) {
      const std::size_t index = c.first + c.ran;
      if (exit_.has_left_before(index) || token_.stop_requested() || control_.is_cancelled()) break;
      slot& s = c.slots[c.ran++];
      s.answer.fill([&]() -> result { return call::with(token_, f_, *s.items); });
      s.items.reset();
      if (s.answer.failed()) {
        exit_.leave_at(index);
        break;
      }
    }
    admitted.count(c.ran);
    c.took = clock::now() - begun;
  }

  // Starts what the window has room for. A slow input does not keep back a result that is there.
  void fill() {
    if (input_ended_ || !has_room()) return;
    const clock::time_point begun = clock::now();
    do {
      start_chunk(begun);
    } while (!input_ended_ && has_room() && !(clock::now() - begun > patience && head_is_ready()));
  }
  [[nodiscard]] bool has_room() const noexcept {
    if (exit_.position() != early_exit::nowhere) return false;
    if (control_.runs_in_caller()) return started_items_ == given_out();
    return started_items_ - given_out() + chunk_size() <= look_ahead_;
  }
  [[nodiscard]] std::size_t given_out() const noexcept { return retired_items_ + position_; }
  [[nodiscard]] std::size_t chunk_size() const noexcept {
    if (control_.runs_in_caller()) return 1;
    if (options_.chunk) return std::min(*options_.chunk, look_ahead_);
    if (per_item_.count() == 0) return 1;
    const auto most = std::max<std::size_t>(1, look_ahead_ / (2 * workers_));
    return std::clamp<std::size_t>(static_cast<std::size_t>(job_time / per_item_), 1, most);
  }

  void start_chunk(clock::time_point begun) {
    const std::size_t capacity = chunk_size();
    auto c = std::make_unique<chunk>(*this, started_items_, capacity);
    try {
      do {
        if (!input_.next(c->slots[c->size].items)) {
          input_ended_ = true;
          break;
        }
        ++c->size;
      } while (c->size < capacity && clock::now() - begun <= patience);
    } catch (...) {
      fail_input(started_items_ + c->size, std::current_exception());
    }
    if (c->size != 0) submit(std::move(c));
  }
  void submit(std::unique_ptr<chunk> c) {
    chunk& job = *c;
    const std::size_t size = job.size;
    if constexpr (Order == delivery::in_order) in_order_.push_back(std::move(c));
    try {
      hand_over(job);
      started_items_ += size;
      ++in_flight_;
      static_cast<void>(c.release());  // comes back through ready_, if it is not in in_order_
    } catch (...) {
      if constexpr (Order == delivery::in_order) in_order_.pop_back();
      fail_input(started_items_, std::current_exception());
    }
  }
  void hand_over(chunk& job) {
    control_.require_open("executor::map");
    crew& home = crew_of(control_.home());
    if (control_.runs_in_caller()) {
      job.call(job, job_fate::run);
    } else if (must_run_inline(home)) {
      run_inline(home, job);
    } else {
      submit_job(home, job, "executor::map");
    }
  }
  // The input cannot be read at this index, or not be handed on.
  void fail_input(std::size_t index, std::exception_ptr error) noexcept {
    input_ended_ = true;
    remember(index, std::move(error));
  }
  void remember(std::size_t index, std::exception_ptr error) noexcept {
    if (error_ != nullptr && error_index_ < index) return;
    error_ = std::move(error);
    error_index_ = index;
  }

  [[nodiscard]] bool head_is_ready() noexcept {
    if (head_ != nullptr) return true;
    if constexpr (Order == delivery::in_order) {
      return in_flight_ != 0 && in_order_.front()->done.is_set();
    } else {
      take(ready_.try_pop());
      return head_ != nullptr;
    }
  }
  // Waits for the next chunk with results, if one is to come.
  void take_head() {
    if (in_flight_ == 0) return;
    if (is_abandoned(crew_of(control_.home()))) throw used_after_fork(used_after_fork_message());
    if constexpr (Order == delivery::in_order) {
      if (!wait_until(*in_order_.front(), deadline_)) time_out();
      head_ = std::move(in_order_.front());
      in_order_.pop_front();
      --in_flight_;
    } else {
      take(pop_ready(deadline_));
      if (head_ == nullptr) time_out();
    }
  }
  ready_list::node* pop_ready(clock::time_point deadline) noexcept {
    crew& home = crew_of(control_.home());
    return ready_.pop_until(deadline, home, is_deterministic(home));
  }
  void take(ready_list::node* ready) noexcept {
    if (ready == nullptr) return;
    head_.reset(static_cast<chunk*>(ready));
    --in_flight_;
  }
  bool wait_until(chunk& c, clock::time_point deadline) noexcept {
    if (c.done.is_set()) return true;
    if (in_flight_ > 1 && in_order_.back()->done.is_set() && !has_room()) control_.count_stall();
    crew& home = crew_of(control_.home());
    if (deadline != clock::time_point::max()) {
      return wait_for_result_until(c.done, home, is_deterministic(home), deadline);
    }
    wait_for_result(c.done, home, is_deterministic(home));
    return true;
  }
  void retire_head() noexcept {
    if (head_->ran != 0) {
      const auto each = head_->took / static_cast<std::int64_t>(head_->ran);
      per_item_ = per_item_.count() == 0 ? each : (3 * per_item_ + each) / 4;
    }
    retired_items_ += head_->size;
    position_ = 0;
    head_.reset();
  }

  // There is no value at the head. In order that is the end; else the other results come first.
  void reject(slot& s, std::size_t index) {
    std::exception_ptr error = s.answer.failed() ? s.answer.error() : why_not_run(index);
    remember(index, std::move(error));
    if constexpr (Order == delivery::in_order) return end();
    position_ = head_->size;
  }
  [[nodiscard]] std::exception_ptr why_not_run(std::size_t index) const {
    if (clock::now() >= deadline_) {
      return std::make_exception_ptr(timed_out(timed_out_message(index, *options_.timeout)));
    }
    return control_.why_cancelled();
  }
  [[noreturn]] void time_out() {
    const std::size_t index = given_out();
    finish();
    throw timed_out(timed_out_message(index, *options_.timeout));
  }
  void end() {
    finish();
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  // Nothing of this map runs afterwards.
  void finish() noexcept {
    if (ended_ || !started_) return;
    ended_ = true;
    input_ended_ = true;
    if (is_abandoned(crew_of(control_.home()))) return forget_everything();
    stop_.request_stop();
    if constexpr (Order == delivery::in_order) {
      for (auto& c : in_order_) wait_until(*c, clock::time_point::max());
      in_order_.clear();
    } else {
      while (in_flight_ != 0) take(pop_ready(clock::time_point::max()));
    }
    head_.reset();
    share_.reset();
  }

  // In a forked child: what was in flight belongs to threads that stayed in the parent.
  void forget_everything() noexcept {
    for (auto& c : in_order_) static_cast<void>(c.release());
    share_->abandon();
  }

  // A job this long is worth handing over; reading input this long is worth interrupting.
  static constexpr std::chrono::nanoseconds job_time = std::chrono::microseconds(50);
  static constexpr std::chrono::nanoseconds patience = std::chrono::microseconds(100);

  work_control& control_;
  const map_options options_;
  const F f_;
  input input_;
  std::optional<work_share> share_;  // from start() to finish()
  bool from_inside_ = false;
  std::size_t workers_ = 1;
  std::size_t look_ahead_ = 1;
  clock::time_point deadline_ = clock::time_point::max();

  std::stop_source stop_;
  const std::stop_token token_ = stop_.get_token();
  early_exit exit_{token_};

  // Chunks in flight: in the order in which they were started, or, when order does not matter,
  // owned by nobody until they are done.
  std::deque<std::unique_ptr<chunk>> in_order_;
  ready_list ready_;
  std::size_t in_flight_ = 0;
  std::size_t started_items_ = 0;
  std::size_t retired_items_ = 0;  // of chunks that are gone
  std::unique_ptr<chunk> head_;    // whose results are being given out
  std::size_t position_ = 0;       // in the head
  std::chrono::nanoseconds per_item_{};
  std::exception_ptr error_;  // with the lowest index so far
  std::size_t error_index_ = 0;
  bool started_ = false;
  bool input_ended_ = false;
  bool ended_ = false;
};

}  // namespace weft::detail
