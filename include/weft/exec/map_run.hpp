#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/core/crew_access.hpp>
#include <weft/core/errors.hpp>
#include <weft/core/future.hpp>
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
//   4. leaving early asks the running items to stop and waits for them; the others never begin.
//
// Threads: the consumer's, except where it says "by a worker".
template <delivery Order, class F, class... Views>
class map_run {
  using clock = std::chrono::steady_clock;
  using input = map_input<Views...>;

 public:
  using result = map_result_t<F, Views...>;

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
    cancelled_.emplace(control_.cancel_token(), [this] { stop_.request_stop(); });
    from_inside_ = work_control::is_inside_item();
    workers_ = control_.home().workers();
    look_ahead_ = options_.look_ahead.value_or(16 * workers_);
    if (options_.timeout) deadline_ = deadline_after(*options_.timeout);
    advance();
  }

  // Goes to the next result; at_end() when there is none. Throws what the loop would.
  void advance() {
    if (ended_) return;
    if (head_ != nullptr) ++position_;
    for (;;) {
      if (head_ != nullptr && position_ == head_->size()) retire_head();
      fill();
      if (head_ == nullptr) take_head();
      if (head_ == nullptr) return end();
      outcome<result>& answer = head_->answers[position_];
      if (answer.has_value()) return;
      reject(answer, head_->first + position_);
    }
  }
  [[nodiscard]] bool at_end() const noexcept { return ended_; }
  auto& current() noexcept { return head_->answers[position_].value(); }

 private:
  // Some items that follow each other, and what came of them. As a job it can be dropped as long as
  // nobody has begun it; then it may wait in its queue for longer than the map lasts.
  class chunk final : public future_state_base, public ready_list::node, public job_memory {
   public:
    chunk(map_run& run, std::size_t first_index)
        : future_state_base(crew_of(run.control_.home()), future_state_base::phase::ready),
          first(first_index),
          run_(run) {}

    [[nodiscard]] std::size_t size() const noexcept { return items.size(); }
    // What it holds goes when it is used up: as a job it may last a moment longer, or in a queue.
    void clear() noexcept {
      answers.reset();
      items.clear();
    }

    const std::size_t first;                     // the index of its first item
    std::vector<typename input::items> items;    // as long as the results, which may refer to them
    std::unique_ptr<outcome<result>[]> answers;  // neither value nor failure: not run
    std::size_t ran = 0;
    std::chrono::nanoseconds took{};
    std::size_t place = 0;  // among those in flight, when order does not matter

   private:
    // By a worker. The run is there until the chunk is done.
    void produce() noexcept override {
      run_.run_items(*this);
      tell();
    }
    void abandon() noexcept override { tell(); }
    void fail(std::exception_ptr) noexcept override {}
    void tell() noexcept {
      if constexpr (Order == delivery::as_completed) run_.ready_.push(*this);
    }

    map_run& run_;
  };
  struct release_chunk {
    void operator()(chunk* c) const noexcept { c->release(); }
  };
  using chunk_ptr = std::unique_ptr<chunk, release_chunk>;

  // By a worker.
  void run_items(chunk& c) noexcept {
    if (token_.stop_requested()) return;
    admission admitted(control_, from_inside_);
    const clock::time_point begun = clock::now();
    while (c.ran < c.size()) {
      const std::size_t index = c.first + c.ran;
      if (exit_.has_left_before(index) || token_.stop_requested() || is_too_late()) break;
      outcome<result>& answer = c.answers[c.ran];
      answer.fill(
          [&]() -> result { return call_with_items<F, Views...>(token_, f_, c.items[c.ran]); });
      ++c.ran;
      if (answer.failed()) {
        exit_.leave_at(index);
        break;
      }
    }
    admitted.count(c.ran);
    c.took = clock::now() - begun;
  }
  [[nodiscard]] bool is_too_late() const noexcept {
    return deadline_ != clock::time_point::max() && clock::now() >= deadline_;
  }

  // Starts what the window has room for. A slow input does not keep back a result that is there.
  void fill() {
    if (slow_input_ && head_is_ready()) return;
    while (!input_ended_ && has_room() && !is_too_late()) {
      const clock::time_point begun = clock::now();
      start_chunk(begun);
      slow_input_ = clock::now() - begun > patience;
      if (slow_input_ && head_is_ready()) return;
    }
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
    const std::size_t most = chunk_size();
    chunk_ptr c;
    try {
      c.reset(new chunk(*this, started_items_));
      c->items.reserve(std::min<std::size_t>(most, 64));
      do {
        input_ended_ = !input_.next(c->items);
      } while (!input_ended_ && c->size() < most && clock::now() - begun <= patience);
    } catch (...) {
      fail_input(started_items_ + (c != nullptr ? c->size() : 0), std::current_exception());
    }
    if (c == nullptr || c->size() == 0) {
      if (c != nullptr) c->release();  // the reference of the queue it never saw
      return;
    }
    submit(std::move(c));
  }
  void submit(chunk_ptr c) {
    chunk& job = *c;
    const std::size_t size = job.size();
    bool placed = false;
    try {
      job.answers = std::make_unique<outcome<result>[]>(size);
      job.place = in_flight_.size();
      in_flight_.push_back(std::move(c));
      placed = true;
      hand_over(job);
      started_items_ += size;
    } catch (...) {
      fail_input(started_items_, std::current_exception());
      job.release();  // the reference of the queue it never saw
      if (placed) in_flight_.pop_back();
    }
  }
  void hand_over(chunk& job) {
    control_.require_open("executor::map");
    crew& home = crew_of(control_.home());
    if (control_.runs_in_caller()) return job.call(job, job_fate::run);
    if (must_run_inline(home)) return run_inline(home, job);
    try {
      submit_job(home, job, "executor::map");
    } catch (const queue_full&) {
      job.call(job, job_fate::run);  // a borrowed pool with a bounded queue: this thread is free
    } catch (const pool_stopped&) {
      control_.throw_stopped("executor::map");
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
      return !in_flight_.empty() && in_flight_.front()->done().is_set();
    } else {
      take(ready_.try_pop());
      return head_ != nullptr;
    }
  }
  // Waits for the next chunk with results, if one is to come.
  void take_head() {
    if (in_flight_.empty()) {
      if (!input_ended_ && error_ == nullptr && is_too_late()) time_out();
      return;
    }
    if constexpr (Order == delivery::in_order) {
      chunk& first = *in_flight_.front();
      // The last one done and not the first: whoever could do more has nothing to do.
      if (!first.done().is_set() && in_flight_.back()->done().is_set() && !has_room()) {
        control_.count_stall();
      }
      if (!wait_for(first)) time_out();
      head_ = std::move(in_flight_.front());
      in_flight_.pop_front();
    } else {
      crew& home = crew_of(control_.home());
      if (is_abandoned(home)) throw used_after_fork(used_after_fork_message());
      take(ready_.pop_until(deadline_, home, is_deterministic(home)));
      if (head_ == nullptr) time_out();
    }
  }
  // False when the deadline came first.
  bool wait_for(chunk& c) {
    if (deadline_ != clock::time_point::max()) return c.wait_until(deadline_, "executor::map");
    c.wait("executor::map");
    return true;
  }
  // When order does not matter: the last one in flight gets the place of the one that is taken.
  void take(ready_list::node* ready) noexcept {
    if (ready == nullptr) return;
    const std::size_t place = static_cast<chunk*>(ready)->place;
    head_ = std::move(in_flight_[place]);
    if (place + 1 != in_flight_.size()) {
      in_flight_[place] = std::move(in_flight_.back());
      in_flight_[place]->place = place;
    }
    in_flight_.pop_back();
  }
  void retire_head() noexcept {
    if (head_->ran != 0) {
      const auto each = head_->took / static_cast<std::int64_t>(head_->ran);
      per_item_ = per_item_.count() == 0 ? each : (3 * per_item_ + each) / 4;
    }
    retired_items_ += head_->size();
    position_ = 0;
    drop_head();
  }
  void drop_head() noexcept {
    if (head_ == nullptr) return;
    head_->clear();
    head_.reset();
  }

  // There is no value at the head. In order that is the end; else the other results come first.
  void reject(const outcome<result>& answer, std::size_t index) {
    remember(index, answer.failed() ? answer.error() : why_not_run(index));
    if constexpr (Order == delivery::in_order) return end();
    position_ = head_->size();
  }
  [[nodiscard]] std::exception_ptr why_not_run(std::size_t index) const {
    if (is_too_late()) {
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
  // Nothing of this map runs afterwards: what nobody has begun is dropped, the rest waited for.
  void finish() noexcept {
    if (ended_ || !started_) return;
    ended_ = true;
    input_ended_ = true;
    if (is_abandoned(crew_of(control_.home()))) return forget_everything();
    stop_.request_stop();
    for (auto& c : in_flight_) c->request_stop();
    for (auto& c : in_flight_) {
      c->wait("executor::map");
      c->clear();
    }
    in_flight_.clear();
    drop_head();
    cancelled_.reset();
    share_.reset();
  }
  // In a forked child: what was in flight belongs to threads that stayed in the parent.
  void forget_everything() noexcept {
    for (auto& c : in_flight_) static_cast<void>(c.release());
    in_flight_.clear();
    if (share_) share_->abandon();
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
  std::optional<std::stop_callback<std::function<void()>>> cancelled_;  // the executor's cancel()

  std::deque<chunk_ptr> in_flight_;  // in order: as they were started
  ready_list ready_;                 // those of them that are done, when order does not matter
  std::size_t started_items_ = 0;
  std::size_t retired_items_ = 0;  // of chunks that are gone
  chunk_ptr head_;                 // whose results are being given out
  std::size_t position_ = 0;       // in the head
  std::chrono::nanoseconds per_item_{};
  bool slow_input_ = false;
  std::exception_ptr error_;  // with the lowest index so far
  std::size_t error_index_ = 0;
  bool started_ = false;
  bool input_ended_ = false;
  bool ended_ = false;
};

}  // namespace weft::detail
