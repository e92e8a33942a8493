#include <weft/core/limiter.hpp>

#include <memory>
#include <mutex>

#include <weft/base/assert.hpp>
#include <weft/core/crew_access.hpp>

namespace weft {

struct limiter::blocked_request final : limiter::request {
  void grant(permit p) noexcept override {
    granted = std::move(p);
    done.set();  // *this may be gone from here on
  }
  permit granted;
  detail::latch done;
};

struct limiter::callback_request final : limiter::request {
  explicit callback_request(std::function<void(permit)> c) : callback(std::move(c)) {}
  void grant(permit p) noexcept override {
    const std::unique_ptr<callback_request> self(this);
    callback(std::move(p));
  }
  std::function<void(permit)> callback;
};

limiter::~limiter() {
  WEFT_ASSERT(in_use_ == 0 && first_ == nullptr,
              "a limiter is destroyed while permits are out or somebody waits for one; let it "
              "outlive everything it limits");
}

limiter::permit limiter::acquire() {
  blocked_request self;
  if (take_or_queue(self) == claim::taken) return wrap();
  detail::wait_without_helping(self.done);
  return std::move(self.granted);
}

limiter::permit limiter::try_acquire() noexcept {
  const std::lock_guard lock(mutex_);
  if (in_use_ >= limit_ || first_ != nullptr) return {};
  ++in_use_;
  return permit(*this);
}

void limiter::acquire(std::function<void(permit)> callback) {
  auto later = std::make_unique<callback_request>(std::move(callback));
  if (take_or_queue(*later) == claim::taken) {
    later->callback(wrap());
  } else {
    static_cast<void>(later.release());  // grant() deletes it
  }
}

void limiter::set_limit(std::size_t limit) noexcept {
  request* ready = nullptr;
  {
    const std::lock_guard lock(mutex_);
    limit_ = limit;
    ready = take_ready();
  }
  grant_all(ready);
}

void limiter::release() noexcept {
  request* ready = nullptr;
  {
    const std::lock_guard lock(mutex_);
    --in_use_;
    ready = take_ready();
  }
  grant_all(ready);
}

limiter::claim limiter::take_or_queue(request& r) noexcept {
  const std::lock_guard lock(mutex_);
  if (r.at_ == request::phase::withdrawn) return claim::withdrawn;
  if (in_use_ < limit_ && first_ == nullptr) {
    r.at_ = request::phase::granted;
    ++in_use_;
    return claim::taken;
  }
  r.at_ = request::phase::queued;
  ++waiting_;
  r.previous_ = last_;
  (first_ == nullptr ? first_ : last_->next_) = &r;
  last_ = &r;
  return claim::queued;
}

bool limiter::withdraw(request& r) noexcept {
  const std::lock_guard lock(mutex_);
  const bool was_queued = r.at_ == request::phase::queued;
  if (was_queued) unlink(r);
  if (r.at_ != request::phase::granted) r.at_ = request::phase::withdrawn;
  return was_queued;
}

void limiter::unlink(request& r) noexcept {
  --waiting_;
  (r.previous_ == nullptr ? first_ : r.previous_->next_) = r.next_;
  (r.next_ == nullptr ? last_ : r.next_->previous_) = r.previous_;
  r.next_ = nullptr;
  r.previous_ = nullptr;
}

limiter::request* limiter::take_ready() noexcept {
  request* ready = nullptr;
  request** end = &ready;
  while (first_ != nullptr && in_use_ < limit_) {
    request& r = *first_;
    unlink(r);
    r.at_ = request::phase::granted;
    ++in_use_;
    *end = &r;
    end = &r.next_;
  }
  return ready;
}

// The grants a thread is at, innermost first. A callback that gives its permit back grants the next
// one: that is left to the loop below, for by recursion a long queue would overflow the stack.
struct limiter::granting {
  limiter* by;
  request* ready;
  granting* outer;
};

void limiter::grant_all(request* ready) noexcept {
  granting*& innermost = per_thread<granting, granting*>();
  for (granting* g = innermost; g != nullptr; g = g->outer) {
    if (g->by != this) continue;
    request** end = &g->ready;
    while (*end != nullptr) end = &(*end)->next_;
    *end = ready;
    return;
  }
  granting self{.by = this, .ready = ready, .outer = innermost};
  innermost = &self;
  while (self.ready != nullptr) {
    request& first = *self.ready;
    self.ready = first.next_;  // the request is gone after grant()
    first.grant(permit(*this));
  }
  innermost = self.outer;
}

std::size_t limiter::limit() const noexcept {
  const std::lock_guard lock(mutex_);
  return limit_;
}
std::size_t limiter::in_use() const noexcept {
  const std::lock_guard lock(mutex_);
  return in_use_;
}
std::size_t limiter::waiting() const noexcept {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

}  // namespace weft
