#include <weft/coro/channel.hpp>

namespace weft::coro {

void channel_waits::push_back(channel_wait& w) noexcept {
  w.previous = last_;
  w.next = nullptr;
  (first_ == nullptr ? first_ : last_->next) = &w;
  last_ = &w;
}

void channel_waits::remove(channel_wait& w) noexcept {
  (w.previous == nullptr ? first_ : w.previous->next) = w.next;
  (w.next == nullptr ? last_ : w.next->previous) = w.previous;
}

}  // namespace weft::coro
