#include <weft/core/blocking.hpp>

#include "crew.hpp"
#include "worker.hpp"

namespace weft::detail {

blocking_scope::blocking_scope() noexcept {
  worker* const w = current_worker();
  if (w == nullptr) return;
  w->publish_all();  // what it has queued cannot wait for it
  if (w->home().add_seat_for_blocked()) compensated_ = &w->home();
}

blocking_scope::~blocking_scope() {
  if (compensated_ != nullptr) compensated_->remove_seat_for_blocked();
}

}  // namespace weft::detail
