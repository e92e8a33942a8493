#include <weft/core/span_listener.hpp>

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "span_listeners.hpp"

namespace weft {
namespace {

struct listener_list {
  std::mutex mutex;
  std::vector<std::shared_ptr<span_listener>> all;  // guarded by mutex
};

// Never destroyed: contexts may end with the last threads.
listener_list& listeners() {
  static auto& made = *new listener_list;
  return made;
}

}  // namespace

namespace detail {

constinit atomic<bool> anybody_listens{false};

void tell_listeners(const ended_span& span) noexcept {
  listener_list& them = listeners();
  const std::lock_guard lock(them.mutex);
  for (const auto& l : them.all) l->span_ended(span);
}

}  // namespace detail

void add_span_listener(std::shared_ptr<span_listener> l) {
  // In the child of a fork nobody listens: whoever held the lock is not there to give it back.
  static const int watched = ::pthread_atfork(
      nullptr, nullptr, [] { detail::anybody_listens.store(false, std::memory_order_relaxed); });
  static_cast<void>(watched);
  listener_list& them = listeners();
  const std::lock_guard lock(them.mutex);
  them.all.push_back(std::move(l));
  detail::anybody_listens.store(true, std::memory_order_relaxed);
}

void remove_span_listener(const span_listener& l) noexcept {
  listener_list& them = listeners();
  std::shared_ptr<span_listener> last;  // ends after the lock, with what it owns
  const std::lock_guard lock(them.mutex);
  const auto found = std::find_if(them.all.begin(), them.all.end(),
                                  [&](const auto& listed) { return listed.get() == &l; });
  if (found == them.all.end()) return;
  last = std::move(*found);
  them.all.erase(found);
  detail::anybody_listens.store(!them.all.empty(), std::memory_order_relaxed);
}

}  // namespace weft
