#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include <weft/base/atomic.hpp>
#include <weft/core/latch.hpp>

namespace weft {

// How much may go on at once: permits whose number can change at any time.
//
//   weft::limiter at_most(4);
//   { auto permit = at_most.acquire(); talk_to_the_database(); }
//   at_most.set_limit(2);                       // those who hold a permit keep it
//
// First come, first served, for waiting threads and callbacks alike.
//
// Threads: any. Blocks: acquire(); a worker gives its seat up meanwhile, and begins no other job:
// that one could want a permit too, and would sit on top of this wait. Errors: callbacks must not
// throw. Lifetime: outlives its permits and everyone who waits.
class limiter {
 public:
  explicit limiter(std::size_t limit) noexcept : limit_(limit) {}
  ~limiter();
  limiter(const limiter&) = delete;
  limiter& operator=(const limiter&) = delete;

  // The right to go on; gives itself back.
  class permit {
   public:
    permit() noexcept = default;
    permit(permit&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    permit& operator=(permit&& other) noexcept {
      permit given_back(std::move(*this));
      owner_ = std::exchange(other.owner_, nullptr);
      return *this;
    }
    ~permit() {
      if (owner_ != nullptr) owner_->release();
    }
    explicit operator bool() const noexcept { return owner_ != nullptr; }

   private:
    friend class limiter;
    explicit permit(limiter& owner) noexcept : owner_(&owner) {}
    limiter* owner_ = nullptr;
  };

  [[nodiscard]] permit acquire();
  // Empty when none is free.
  [[nodiscard]] permit try_acquire() noexcept;
  // Calls back with a permit: at once on this thread if one is free, else later on the thread that
  // gives one back.
  void acquire(std::function<void(permit)> callback);

  // Somebody who waits for a permit in another way; lives in a waiting frame. Is granted one once.
  class request {
   public:
    // On the thread that gives one back. *this may go as soon as it wants.
    virtual void grant(permit p) noexcept = 0;

   protected:
    request() = default;
    ~request() = default;

   private:
    friend class limiter;
    enum class phase : std::uint8_t { fresh, queued, granted, withdrawn };
    // Guarded by the limiter's mutex.
    request* next_ = nullptr;
    request* previous_ = nullptr;
    phase at_ = phase::fresh;
  };
  enum class claim : std::uint8_t { taken, queued, withdrawn };
  // Takes a permit, which the caller must wrap(), or queues: then grant() will be called, unless
  // withdraw() comes first.
  [[nodiscard]] claim take_or_queue(request& r) noexcept;
  // True when the request was in the queue, and is not any more. One that is not queued yet will
  // never be: take_or_queue() says so.
  [[nodiscard]] bool withdraw(request& r) noexcept;
  // After take_or_queue() has said taken.
  [[nodiscard]] permit wrap() noexcept { return permit(*this); }

  // Takes effect at once upwards, and downwards as permits come back. 0 stops everything.
  void set_limit(std::size_t limit) noexcept;

  [[nodiscard]] std::size_t limit() const noexcept;
  [[nodiscard]] std::size_t in_use() const noexcept;
  [[nodiscard]] std::size_t waiting() const noexcept;

 private:
  struct blocked_request;
  struct callback_request;

  void release() noexcept;
  // With mutex_ held.
  void unlink(request& r) noexcept;
  // With mutex_ held: the requests that may go on now, out of the queue and counted.
  request* take_ready() noexcept;
  // Without it: grants run user code, which may give permits back at once.
  void grant_all(request* ready) noexcept;
  struct granting;

  mutable mutex mutex_;
  // Guarded by mutex_.
  std::size_t limit_;
  std::size_t in_use_ = 0;
  std::size_t waiting_ = 0;
  request* first_ = nullptr;
  request* last_ = nullptr;
};

}  // namespace weft
