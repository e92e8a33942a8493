#pragma once

#include <cstdint>
#include <memory>

#include <weft/core/job.hpp>
#include <weft/core/observer.hpp>

namespace weft {

class pool;

// Which end of a queue is served first.
enum class service_order : std::uint8_t { oldest_first, newest_first };

// Where work that was begun elsewhere goes on: a pool, a thread that does I/O, a thread that waits.
//
// Threads: any. Errors: none; what was accepted once is never refused, so a lane that has ended
// runs the job in the caller. Lifetime: outlives the work that may come back to it.
class lane {
 public:
  lane() = default;
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  // Runs the job here, some time later.
  virtual void post(detail::queued_job& job) noexcept = 0;
  // As post(), behind everything that is queued here already.
  virtual void post_last(detail::queued_job& job) noexcept { post(job); }
  // Whether the calling thread runs jobs of this lane at the moment.
  [[nodiscard]] virtual bool is_here() const noexcept = 0;
  // In which order one thread runs what it posts.
  [[nodiscard]] virtual service_order order() const noexcept { return service_order::oldest_first; }
  // From now on the observer is told what the threads of the lane do; null: nobody is. False when
  // another one is there already, or the lane cannot be observed.
  virtual bool observe(const std::shared_ptr<observer>& o) {
    static_cast<void>(o);
    return false;
  }

 protected:
  ~lane() = default;
};

[[nodiscard]] lane& lane_of(pool& p) noexcept;

}  // namespace weft
