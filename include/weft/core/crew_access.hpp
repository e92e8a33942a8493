#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <stop_token>

#include <weft/core/job.hpp>
#include <weft/core/latch.hpp>

namespace weft {
class pool;
}

// The door from templates in headers to the scheduler in src/core: everything that futures, groups
// and pool members need of a crew, without its definition.
namespace weft::detail {

class crew;
struct sleeper;
class worker;

[[nodiscard]] crew& crew_of(pool& p) noexcept;
// The crew whose job this thread runs, or null.
[[nodiscard]] crew* current_crew() noexcept;

// Queues a job: on the current worker's deque if it is one of the crew's, else through the
// injector. `name` is the call to blame in messages. On an exception the job was not queued.
// The job runs in the context of the caller.
void submit_job(crew& c, queued_job& job, const char* name);
// As above for a job that has a context of its own.
void submit_task(crew& c, queued_job& job, const char* name);
// As above for a job that belongs to work already accepted: is taken also while the pool ends.
void continue_with(crew& c, queued_job& job) noexcept;
// True when the current worker may nest no deeper: run the job instead of queueing it.
[[nodiscard]] bool must_run_inline(crew& c) noexcept;
void run_inline(crew& c, queued_job& job) noexcept;

// Waits until set: a worker gives its seat up and begins no other job, any other thread blocks.
void wait_without_helping(latch& done) noexcept;
// Waits for what a job of the crew makes: a worker helps meanwhile, any other thread blocks; a
// deterministic pool is driven by whoever waits. Any other crew is not touched: it may be gone when
// the latch is set.
void wait_for_result(latch& done, crew& c, bool deterministic) noexcept;
// False when the deadline came first. A worker helps, but cannot be interrupted in a job.
bool wait_for_result_until(latch& done, crew& c, bool deterministic,
                           std::chrono::steady_clock::time_point deadline) noexcept;
// As wait_for_result(); an outside thread lends itself to the crew while it waits, if a seat is
// vacant.
void wait_for_lending(latch& done, crew& c) noexcept;

[[nodiscard]] std::stop_token stop_token_of(crew& c) noexcept;
void report_unhandled(crew& c, std::exception_ptr error) noexcept;
// Throws used_after_fork in a forked child, pool_stopped after shutdown().
void require_open(crew& c, const char* name);
// In a forked child: the threads stayed in the parent.
[[nodiscard]] bool is_abandoned(const crew& c) noexcept;
// False after shutdown(). A seat borrowed before this said true is one that shutdown() waits for.
[[nodiscard]] bool is_open(const crew& c) noexcept;

// A job sleeps in a call, so another may run: false when that cannot be had. See blocking().
[[nodiscard]] bool add_seat_for_blocked(crew& c) noexcept;
void remove_seat_for_blocked(crew& c) noexcept;

[[nodiscard]] bool is_deterministic(const crew& c) noexcept;
// Counts the forks of this process; and the count at which the crew was made.
[[nodiscard]] std::uint32_t process_generation() noexcept;
[[nodiscard]] std::uint32_t made_in_generation(const crew& c) noexcept;

// Keeps a crew's memory after its pool has gone. A job that reaches it then runs where it is.
class crew_reference {
 public:
  explicit crew_reference(crew& c) noexcept;
  ~crew_reference();
  crew_reference(const crew_reference&) = delete;
  crew_reference& operator=(const crew_reference&) = delete;

 private:
  crew& crew_;
};

// While it lives, the calling thread is one of the crew's workers. Empty when no seat is vacant.
class seat_loan {
 public:
  explicit seat_loan(crew& c) noexcept;
  ~seat_loan();
  seat_loan(const seat_loan&) = delete;
  seat_loan& operator=(const seat_loan&) = delete;

  explicit operator bool() const noexcept { return worker_ != nullptr; }

 private:
  worker* worker_;
  worker* before_ = nullptr;  // of another pool, when a job of one pool enters another
};

}  // namespace weft::detail
