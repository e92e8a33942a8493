#pragma once

#include <weft/base/atomic.hpp>
#include <weft/core/span_listener.hpp>

namespace weft::detail {

// Saves the lock. relaxed: who comes or goes meanwhile may be told or not.
extern constinit atomic<bool> anybody_listens;

// With a lock held: listeners are quick, and neither make nor drop contexts.
void tell_listeners(const ended_span& span) noexcept;

}  // namespace weft::detail
