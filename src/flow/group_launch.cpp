// How a group hands instances to their place: without its lock, and so that its owner can wait for
// that.

#include <exception>
#include <optional>
#include <utility>

#include <weft/core/errors.hpp>
#include <weft/flow/group_core.hpp>

namespace weft::flow {
namespace {

// The calls of launch() that this thread is in, innermost first: a lane that has ended runs what it
// is given on the spot, and that may be the owner of the group.
struct launching {
  const group_core* group;
  launching* outer;
};
constinit thread_local launching* innermost = nullptr;

// Whether that is what a place says that takes nothing any more. One that is full may have room
// later.
bool is_final(const std::exception_ptr& problem) noexcept {
  try {
    std::rethrow_exception(problem);
  } catch (const pool_stopped&) {
    return true;
  } catch (...) {
    return false;
  }
}

std::size_t launches_here(const group_core& group) noexcept {
  std::size_t count = 0;
  for (const launching* l = innermost; l != nullptr; l = l->outer) count += l->group == &group;
  return count;
}

}  // namespace

// Gives the lock up. Or keeps it and returns false: the attempt has failed.
bool group_core::start(lock_type& l, instance& i, started_by whom, task_kind kind,
                       const spawn_options& options) noexcept {
  i.make_attempt();
  ++launches_;
  l.unlock();
  launching here{.group = this, .outer = innermost};
  innermost = &here;
  std::exception_ptr problem = launch(i, whom, kind, options);
  innermost = here.outer;
  launch_ended();
  if (problem == nullptr) return true;
  const bool comes_no_more = options_.retry.times > 0 && is_final(problem);
  if (comes_no_more || i.attempts > options_.retry.times) drop_item(i);
  l.lock();
  attend_to_ends();
  i.comes_no_more = i.comes_no_more || comes_no_more;
  fail(l, i, std::move(problem));
  return false;
}

// Null, or why it could not begin.
std::exception_ptr group_core::launch(instance& i, started_by whom, task_kind kind,
                                      const spawn_options& options) noexcept {
  io::placement where;
  bool was_withdrawn = false;
  try {
    where = place_.choose(kind, options);
    was_withdrawn = !i.prepare(make_attempt(i), where, kind, options.name, place_.scheduler());
  } catch (...) {
    return give_up(i);
  }
  if (was_withdrawn) {
    i.drop();
    drop_item(i);
    std::optional<io::others_may_follow> none;
    attempt_ended(i, none);
    return nullptr;
  }
  if (whom == started_by::group) {
    // The caller may be anybody, such as the thread of all timers: it must neither wait for room
    // nor run the instance.
    where.lane->post(i);
    return nullptr;
  }
  try {
    place_.submit(i, where);
  } catch (...) {
    if (i.take_back()) return give_up(i);
    withdrawn_left_its_lane();  // it never came there: it was stopped before it was refused
  }
  return nullptr;
}

// With the exception that is being handled.
std::exception_ptr group_core::give_up(instance& i) noexcept {
  i.drop();
  return std::current_exception();
}

// An instance may have ended although who started it has not yet handed it to its place: because it
// was quick, or was stopped meanwhile. That takes a moment, or as long as the place has no room; so
// a worker helps, which may be the one to make room.
void group_core::wait_for_launches() noexcept {
  std::size_t others = 0;
  {
    const lock_type l = lock();  // nothing begins any more
    others = launches_ - launches_here(*this);
  }
  if (launched_.fetch_add(all_over - others, std::memory_order_acq_rel) == others) return;
  detail::wait_for_lending(all_launched_, detail::crew_of(place_.cpu()));
}

// After this line the group may be gone.
void group_core::launch_ended() noexcept {
  if (launched_.fetch_add(1, std::memory_order_acq_rel) + 1 == all_over) all_launched_.set();
}

}  // namespace weft::flow
