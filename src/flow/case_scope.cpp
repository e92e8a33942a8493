#include <weft/flow/case_scope.hpp>

#include <cstddef>
#include <deque>
#include <exception>
#include <utility>

#include <weft/core/errors.hpp>
#include <weft/flow/group_core.hpp>

namespace weft {
namespace flow {

// Instances that have nothing in common but their case.
class case_group final : public group_core {
 public:
  explicit case_group(instance_place where)
      : group_core(std::move(where), {}, task_kind::function, "case_scope") {
    open_ticket();
  }

  bool add(task<void> work, task_kind kind, const spawn_options& options) {
    lock_type l = lock();
    if (!may_add()) return false;
    record& r = records_.emplace_back(records_.size(), std::move(work));
    added(l, r, kind, options);
    return true;
  }

  // The case starts nothing more; instances may, while there are any.
  void close() noexcept {
    if (std::exchange(is_open_, false)) close_ticket();
  }

  void throw_first_error() {
    const lock_type l = lock();
    if (state().end() == group_end::cancelled) throw cancelled();
    bool one_was_cancelled = false;
    for (const record& r : records_) {
      if (r.how == outcome_kind::error) std::rethrow_exception(r.error);
      one_was_cancelled = one_was_cancelled || r.how == outcome_kind::cancelled;
    }
    if (one_was_cancelled) throw cancelled();
  }

 private:
  struct record : instance_record {
    record(std::size_t i, task<void> w) noexcept : instance_record(i), work(std::move(w)) {}
    task<void> work;
  };

  instance_record& record_of(std::size_t index) noexcept override { return records_[index]; }
  task<void> make_attempt(instance_record& r, attempt a) override {
    auto& mine = static_cast<record&>(r);
    return run({.until_the_end = std::move(a), .work = std::move(mine.work)}, mine);
  }
  // One parameter, so that the work goes before the end is told: g++ destroys parameters in their
  // order.
  struct running_work {
    attempt until_the_end;
    task<void> work;
  };
  static task<void> run(running_work mine, instance_record& r) {
    try {
      co_await std::move(mine.work);
      r.how = outcome_kind::value;
    } catch (const cancelled&) {
      r.how = outcome_kind::cancelled;
    } catch (...) {
      r.error = std::current_exception();
      r.how = outcome_kind::error;
    }
  }

  std::deque<record> records_;  // guarded by the lock; what is in it stays where it is
  bool is_open_ = true;         // the owner's
};

}  // namespace flow

case_scope::case_scope(instance_place where)
    : group_(std::make_shared<flow::case_group>(std::move(where))),
      exceptions_(std::uncaught_exceptions()) {}

case_scope::~case_scope() {
  if (group_->is_abandoned()) return;
  if (std::uncaught_exceptions() > exceptions_) group_->cancel();
  group_->close();
  group_->wait_until_idle();
}

bool case_scope::start(task<void> work, task_kind kind, const spawn_options& options) {
  return group_->add(std::move(work), kind, options);
}

namespace {

task<void> join_case(flow::case_group& group) {
  group.close();
  co_await flow::wait_for(group, flow::group_wait::until::joinable);
  group.throw_first_error();
}

}  // namespace

task<void> case_scope::join() { return join_case(*group_); }
void case_scope::cancel() noexcept { group_->cancel(); }
group_progress case_scope::progress() const noexcept { return group_->progress(); }

}  // namespace weft
