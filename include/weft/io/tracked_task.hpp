#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <weft/core/future.hpp>
#include <weft/core/lane.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/io/classifier.hpp>

namespace weft {
struct spawn_options;
}

// How the templates of hybrid_scheduler reach the scheduler in src/io.
namespace weft::io {

class scheduler;

// Where a task begins.
struct placement {
  lane_kind kind = lane_kind::cpu;
  weft::lane* lane = nullptr;
};

// Throws pool_stopped.
[[nodiscard]] placement place(scheduler& s, task_kind kind, const spawn_options& options);
// On an exception, pool_stopped or queue_full, the job was not queued.
void submit(scheduler& s, detail::queued_job& job, placement where);
[[nodiscard]] detail::crew& crew_of(scheduler& s) noexcept;
void report_unhandled(scheduler& s, std::exception_ptr error) noexcept;

// A task that the scheduler knows, from spawn to its end.
class tracked_task {
 public:
  tracked_task(const tracked_task&) = delete;
  tracked_task& operator=(const tracked_task&) = delete;

  [[nodiscard]] lane_kind lane() const noexcept { return lane_; }
  [[nodiscard]] virtual std::string_view task_name() const noexcept = 0;
  [[nodiscard]] virtual const char* task_waits_for() noexcept = 0;
  [[nodiscard]] virtual bool owns_chain(const coro::promise_base* first) noexcept = 0;
  // Its memory, for whoever calls ask_to_stop() when it may have ended.
  [[nodiscard]] virtual std::shared_ptr<void> keep() = 0;
  virtual void ask_to_stop() noexcept = 0;

 protected:
  tracked_task() = default;
  ~tracked_task() = default;
  // When the object is whole: from here on others call what is virtual. Throws pool_stopped.
  void enter(scheduler& s, lane_kind lane);
  // At the end, or when it never begins. Nothing for one that was not entered.
  void leave() noexcept;
  [[nodiscard]] bool is_tracked() const noexcept { return scheduler_ != nullptr; }
  [[nodiscard]] scheduler& home() const noexcept { return *scheduler_; }

 private:
  friend class task_registry;
  scheduler* scheduler_ = nullptr;  // between enter() and leave()
  lane_kind lane_ = lane_kind::cpu;
  // Guarded by the registry.
  unsigned shard_ = 0;
  tracked_task* next_ = nullptr;
  tracked_task* previous_ = nullptr;
};

// By whoever ends a task and may start others then: the scheduler does not take itself for empty in
// between, and takes them as from one of its own threads, whichever this is. After its end the
// scheduler may be gone.
class others_may_follow {
 public:
  explicit others_may_follow(scheduler* s) noexcept;  // null: nobody is told
  ~others_may_follow();
  // Whether the calling thread is in between, for that scheduler.
  [[nodiscard]] static bool is_here(const scheduler& s) noexcept;
  others_may_follow(const others_may_follow&) = delete;
  others_may_follow& operator=(const others_may_follow&) = delete;

 private:
  scheduler* const scheduler_;
  const others_may_follow* const outer_;  // on this thread
};

// Measures a stretch of a task for the classifier, if that wants it; may outlive the task.
class stretch_sample {
 public:
  stretch_sample(scheduler& s, std::string_view name, task_kind kind);
  ~stretch_sample();
  stretch_sample(const stretch_sample&) = delete;
  stretch_sample& operator=(const stretch_sample&) = delete;

 private:
  std::shared_ptr<task_classifier> classifier_;  // null: not this time
  std::string name_;
  task_kind kind_ = task_kind::function;
  std::chrono::steady_clock::time_point wall_;
  std::chrono::nanoseconds cpu_{};
};

template <class T>
class hybrid_job final : public coro::chain_future<T>, public tracked_task {
 public:
  hybrid_job(scheduler& s, placement where, task_kind kind, task<T> t, std::string_view name,
             const context& within)
      : coro::chain_future<T>(crew_of(s), *where.lane, std::move(t), name, within), kind_(kind) {
    enter(s, where.kind);
  }

  // It could not be queued. A stop request may have found it before.
  void refused() noexcept {
    if (this->claim()) leave();
    this->release();
  }

 private:
  void run_first(coro::promise_base& first) noexcept override {
    const stretch_sample sample(home(), this->name(), kind_);
    first.run();
  }
  void leaving() noexcept override {
    if (this->result_.failed() && this->is_unobserved()) {
      report_unhandled(home(), this->result_.error());
    }
    leave();
  }
  [[nodiscard]] std::string_view task_name() const noexcept override { return this->name(); }
  [[nodiscard]] const char* task_waits_for() noexcept override { return this->waits_for(); }
  [[nodiscard]] bool owns_chain(const coro::promise_base* first) noexcept override {
    return this->is_chain(first);
  }
  [[nodiscard]] std::shared_ptr<void> keep() override {
    this->add_references(1);  // it has not ended, so it holds one itself
    return {this, [](hybrid_job* kept) { kept->release(); }};
  }
  void ask_to_stop() noexcept override { this->request_stop(); }

  const task_kind kind_;
};

}  // namespace weft::io
