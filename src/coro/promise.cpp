#include <weft/coro/promise.hpp>

#include <weft/core/observer.hpp>

namespace weft::detail {

const context_node* context_of_chain(const void* first) noexcept {
  // The chain runs on this thread, or the caller would not have it.
  auto* const chain =
      const_cast<coro::promise_base*>(static_cast<const coro::promise_base*>(first));
  return chain->owner().on_behalf_of();
}

}  // namespace weft::detail

namespace weft::coro {

// A lane that is cancelled drops what is queued. Frames cannot be dropped: what they hold must be
// released, and others wait for them. So the chain is told to stop, and ends by itself.
void promise_base::called(detail::job& self, detail::job_fate fate) noexcept {
  auto& me = static_cast<promise_base&>(self);
  if (fate == detail::job_fate::drop) stop_chain(me.first());
  // A lane that has ended runs the job in the middle of its own suspension. By recursion a loop of
  // yields would overflow the stack.
  auto& here = detail::running::on_this_thread();
  if (here.runs_chain(&me.first())) {
    here.next = &me;
  } else {
    me.run();
  }
}

// As run(), and says so. The observer is kept: it may be taken away meanwhile, and hears of the end
// all the same.
void promise_base::run_observed() noexcept {
  auto& here = detail::running::on_this_thread();
  observer& told = *here.observer;
  const unsigned worker = here.worker;
  const auto outer = here.now();
  detail::queued_job* const outer_next = std::exchange(here.next, nullptr);
  for (promise_base* p = this; p != nullptr; p = next_of(here)) {
    here.begin_chain(&p->first());
    told.task_begins(worker, context::of(p->owner().on_behalf_of()));
    p->handle().resume();
    told.task_ends(worker);
  }
  here.go_back(outer);
  here.next = outer_next;
}

}  // namespace weft::coro
