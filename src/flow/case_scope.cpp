#include <weft/flow/case_scope.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <weft/core/errors.hpp>
#include <weft/flow/group_core.hpp>

namespace weft {
namespace flow {

// Instances that have nothing in common but their case.
class case_group final : public group_core {
 public:
  explicit case_group(instance_place where)
      : group_core(std::move(where), {}, {.add_others = true}, "case_scope") {
    open_ticket();
  }

  bool add(task<void> work, task_kind kind, const spawn_options& options) {
    require_same_process();
    auto made = std::make_unique<case_instance>(*this, std::move(work));
    instance& i = *made;
    lock_type l = lock();
    if (!may_add()) return false;
    instances_.push_back(std::move(made));
    added(l, i, kind, options);
    return true;
  }

  // The case starts nothing more; instances may, while there are any.
  void close() noexcept {
    if (std::exchange(is_open_, false)) close_ticket();
  }

  // What work and errors hold; when nothing runs any more.
  void forget() noexcept {
    for (const auto& i : instances_) {
      i->work = {};
      i->error = nullptr;
    }
    group_core::forget();
  }

  void throw_first_error() {
    const lock_type l = lock();
    if (state().end() == group_end::cancelled) throw cancelled();
    bool one_was_cancelled = false;
    for (const auto& i : instances_) {
      if (i->how == outcome_kind::error) std::rethrow_exception(i->error);
      one_was_cancelled = one_was_cancelled || i->how == outcome_kind::cancelled;
    }
    if (one_was_cancelled) throw cancelled();
  }

 private:
  struct case_instance final : instance {
    case_instance(group_core& group, task<void> w) noexcept : instance(group), work(std::move(w)) {}
    task<void> work;
  };

  instance& instance_at(std::size_t index) noexcept override { return *instances_[index]; }
  void drop_item(instance& i) noexcept override { static_cast<case_instance&>(i).work = {}; }
  task<void> make_attempt(instance& i) override {
    return run(std::move(static_cast<case_instance&>(i).work), i);
  }
  static task<void> run(task<void> work, instance& i) {
    try {
      co_await std::move(work);
      i.how = outcome_kind::value;
    } catch (...) {
      i.keep_exception();
    }
  }

  std::vector<std::unique_ptr<case_instance>> instances_;  // guarded by the lock
  bool is_open_ = true;                                    // the owner's
};

}  // namespace flow

case_scope::case_scope(instance_place where)
    : group_(std::make_shared<flow::case_group>(std::move(where))),
      exceptions_(std::uncaught_exceptions()) {}

case_scope::~case_scope() {
  if (group_->stays_if_abandoned()) return;
  if (std::uncaught_exceptions() > exceptions_) group_->cancel();
  group_->close();
  group_->wait_until_idle();
  if (group_.use_count() != 1) group_->forget();  // lanes hold it, which have what was withdrawn
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
void case_scope::cancel() noexcept {
  const auto keep = group_;  // whoever joins it may be quicker, and let it go
  keep->cancel();
}
group_progress case_scope::progress() const noexcept { return group_->progress(); }

}  // namespace weft
