#include <weft/core/blocking.hpp>

#include "crew.hpp"
#include "worker.hpp"

namespace weft::detail {

blocking_scope::blocking_scope() noexcept {
  worker* const w = current_worker();
  if (w == nullptr) return;
  w->publish_all();          // what it has queued cannot wait for it
  if (!w->blocks()) return;  // one that contains this has given the seat away
  worker_ = w;
  compensated_ = w->home().add_seat_for_blocked();
}

blocking_scope::~blocking_scope() {
  if (worker_ == nullptr) return;
  worker_->unblocks();
  if (compensated_) worker_->home().remove_seat_for_blocked();
}

}  // namespace weft::detail
