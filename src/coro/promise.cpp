#include <weft/coro/promise.hpp>

namespace weft::coro {

constinit thread_local running running::here;

// A lane that is cancelled drops what is queued. Frames cannot be dropped: what they hold must be
// released, and others wait for them. So the chain is told to stop, and ends by itself.
void promise_base::called(detail::job& self, detail::job_fate fate) noexcept {
  auto& me = static_cast<promise_base&>(self);
  if (fate == detail::job_fate::drop) stop_chain(me.first());
  // A lane that has ended runs the job in the middle of its own suspension. By recursion a loop of
  // yields would overflow the stack.
  running& here = running::on_this_thread();
  if (here.chain.load(std::memory_order_relaxed) == &me.first()) {
    here.next = &me;
  } else {
    me.run();
  }
}

}  // namespace weft::coro
