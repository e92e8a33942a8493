#include <weft/flow/instance.hpp>

#include <optional>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/core/errors.hpp>
#include <weft/flow/group_core.hpp>

namespace weft::flow {

bool instance::prepare(task<void> attempt, io::placement where, task_kind kind,
                       std::string_view name, io::scheduler* knows_it) {
  attempt_ = std::move(attempt);
  first().start_chain(*this, *where.lane);
  lane_ = where.lane;
  kind_ = kind;
  was_stopped_ = false;
  if (!name.empty()) name_ = group_.within().part(name);
  if (knows_it != nullptr) enter(*knows_it, where.kind);  // others look at it from here on
  return state_.queue();
}

const context& instance::within() const noexcept { return name_ ? name_ : group_.within(); }

// What the coroutine holds is released before anybody learns that it is gone.
void instance::drop() noexcept {
  attempt_ = {};
  leave();
  name_ = {};
  stop_ = std::stop_source(std::nostopstate);
}

// After this line the group may be gone.
void instance::end() noexcept {
  std::optional<io::others_may_follow> hold;
  if (is_tracked() && group_.ends_let_others_begin()) hold.emplace(&home());
  // The thread may still say that it runs the chain whose frame goes now.
  const context_scope scope(within());
  drop();
  group_.attempt_ended(*this, hold);
}

void instance::called(detail::job& self, detail::job_fate fate) noexcept {
  auto& me = static_cast<instance&>(self);
  if (!me.state_.begin()) return me.group_.withdrawn_left_its_lane();
  if (fate == detail::job_fate::drop) {
    me.state_.end();
    me.group_.drop_item(me);
    return me.end();
  }
  if (!me.is_tracked() || me.name().empty()) return me.first().run();
  const io::stretch_sample sample(me.home(), me.name(), me.kind_);
  me.first().run();
}

void instance::ended(coro::promise_base& /*first*/) noexcept {
  state_.end();
  end();
}

bool instance::stop(unsigned attempt) noexcept {
  switch (state_.stop(attempt)) {
    case attempt_state::reached::nothing:
    case attempt_state::reached::its_maker:
      return false;
    case attempt_state::reached::queued: {
      const context_scope scope(within());
      drop();
      return true;
    }
    case attempt_state::reached::running:
      break;
  }
  detail::job_list released;
  was_stopped_ = true;
  first().waiting().stop(released);
  std::stop_source source = stop_;
  state_.let_go();
  source.request_stop();
  coro::post_all(released);
  return false;
}

bool instance::needs_this_thread() const noexcept {
  return is_under_way && state_.is_made() && lane() == lane_kind::io && lane_->is_here();
}

// By the chain, or by a branch of it; so it runs.
std::stop_token instance::stop_token() noexcept {
  const bool is_held = state_.hold();
  WEFT_ASSERT(is_held, "a stop token was asked for by an instance that does not run");
  if (!stop_.stop_possible()) {
    stop_ = std::stop_source();
    if (was_stopped_) stop_.request_stop();
  }
  std::stop_token token = stop_.get_token();
  state_.let_go();
  return token;
}

void instance::keep_exception() noexcept {
  try {
    throw;
  } catch (const cancelled&) {
    how = outcome_kind::cancelled;
  } catch (...) {
    error = std::current_exception();
    how = outcome_kind::error;
  }
}

const char* instance::task_waits_for() noexcept {
  if (!state_.hold_to_look()) return nullptr;
  const char* const what = first().waiting().what();
  state_.let_go();
  return what;
}

bool instance::owns_chain(const coro::promise_base* chain) noexcept {
  if (!state_.hold_to_look()) return false;
  const bool is_mine = &first() == chain;
  state_.let_go();
  return is_mine;
}

std::shared_ptr<void> instance::keep() { return group_.shared_from_this(); }

void instance::ask_to_stop() noexcept { group_.stop_by_its_place(*this); }

}  // namespace weft::flow
