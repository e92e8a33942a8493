#include "worker.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <weft/base/assert.hpp>

#include "crew.hpp"
#include "victims.hpp"

namespace weft::detail {

namespace {

// A searcher spins and can wait for a few spawned jobs more; handing it every single one costs both
// sides a cache miss a job. It seizes what it does not get.
constexpr std::int64_t least_batch_for_a_searcher = 16;
constexpr unsigned injector_every_jobs = 61;
constexpr std::int64_t injector_every_ns = 200'000;

void relax_cpu() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

std::int64_t now_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

worker::worker(crew& c, unsigned index, const atomic<std::uint64_t>& demand, bool fenced)
    : fork_context(fenced || c.is_deterministic() ? always_demanded : demand, fenced,
                   c.is_deterministic()),
      crew_(c),
      index_(index),
      random_state_(c.options().deterministic_seed.value_or(index)) {}

// SplitMix64: every seed, also 0, gives a sequence of its own.
std::uint64_t worker::random() noexcept {
  random_state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = random_state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// -- the loop -------------------------------------------------------------------------------------

void worker::run() noexcept {
  if (crew_.beds().first_call(bed_) != wake_call::exit) {
    note_waking(nullptr);
    searching_ = true;
    work();
  }
  activity_.store(worker_activity::asleep, std::memory_order_relaxed);
}

void worker::work() noexcept {
  for (unsigned round = 0;;) {
    if (const job_ref job = find_job()) {
      end_search();
      execute(job);
      round = 0;
      if (crew_.beds().read().surplus > 0 && !leave_surplus_seat()) return;
      continue;
    }
    begin_search();
    if (round < crew_.options().spin_limit + crew_.options().yield_limit) {
      pause_between_looks(round++);
      continue;
    }
    if (!sleep_idle()) return;
    round = 0;
  }
}

job_ref worker::find_job() noexcept {
  if (crew_.is_deterministic()) [[unlikely]]
    return draw_job();
  if (injector_is_due()) {
    if (const job_ref job = take_injected()) return job;
  }
  if (const job_ref job = take_own()) return job;
  if (const job_ref job = take_injected()) return job;
  return steal_from_others();
}

job_ref worker::take_own() noexcept {
  if (only_job_ != nullptr) return job_ref::batchable(*std::exchange(only_job_, nullptr));
  deque_owner own(queue_);
  if (older_first_ > 0) [[unlikely]] {
    --older_first_;
    if (const job_ref oldest = own.take_oldest()) return oldest;
    older_first_ = 0;  // thieves have taken them
  }
  const job_ref newest = own.newest();
  if (!newest) return {};
  return newest.is_batchable() ? own.pop() : own.take_oldest();
}

// Own jobs are taken newest first, so a worker that always has some would never look outside.
bool worker::injector_is_due() noexcept {
  if (crew_.outside().size() == 0) {
    since_injector_ = 0;
    return false;
  }
  if (++since_injector_ % injector_every_jobs == 0) return true;
  return now_ns() - last_injector_look_ >= injector_every_ns;
}

job_ref worker::take_injected() noexcept {
  injector& outside = crew_.outside();
  const std::size_t waiting = outside.size();
  if (waiting == 0) return {};
  // A fair share: what is left over stays in order for the others.
  const std::size_t share = waiting / std::max(1U, crew_.beds().seats());
  const steal_result taken = outside.take(deque_owner(queue_), share > 0 ? share - 1 : 0);
  if (taken.status != steal_status::stolen) return {};
  since_injector_ = 0;
  last_injector_look_ = now_ns();
  bump(injected_, taken.count);
  crew_.room_made();
  offer_work();
  return taken.job;
}

job_ref worker::steal_from_others() noexcept {
  const base::cpu_map& map = crew_.cpus();
  if (!map.is_flat()) note_place();
  const unsigned count = crew_.worker_count();
  job_ref found;
  visit_victims(
      map, index_, count, static_cast<unsigned>(random() % count),
      [this](unsigned i) { return crew_.worker_at(i).cpu_.load(std::memory_order_relaxed); },
      [&](unsigned i) {
        found = steal_from(crew_.worker_at(i));
        return static_cast<bool>(found);
      });
  return found;
}

job_ref worker::steal_from(worker& victim) noexcept {
  if (!victim.queue().has_public_jobs()) return {};
  const steal_result loot = victim.queue().steal_batch(deque_owner(queue_));
  if (loot.status != steal_status::stolen) return {};
  bump(stolen_, loot.count);
  if (weft::observer* const o = crew_.observer()) [[unlikely]]
    o->job_stolen(index_, victim.index_, loot.job.get());
  offer_work();
  return loot.job;
}

// A worker that is not pinned moves about; where it looks for work is where its jobs are.
void worker::note_place() noexcept {
  const int cpu = ::sched_getcpu();
  if (cpu >= 0) cpu_.store(static_cast<unsigned>(cpu), std::memory_order_relaxed);
}

void worker::execute(job_ref ref) noexcept {
  bump(executed_);
  activity_.store(worker_activity::running, std::memory_order_relaxed);
  // Apart, so that without an observer the job is called last, with nothing kept for afterwards.
  if (weft::observer* const o = crew_.observer()) [[unlikely]]
    return call_observed(*o, index_, *ref.get(), fate_of(ref));
  job& j = *ref.get();
  j.call(j, fate_of(ref));
}

// Joins always run: a frame waits for their result. Queued jobs can be told that they were dropped.
job_fate worker::fate_of(job_ref ref) noexcept {
  if (!ref.is_batchable() || !crew_.is_cancelling()) [[likely]]
    return job_fate::run;
  bump(dropped_);
  return job_fate::drop;
}

void worker::execute_nested(job_ref job) noexcept {
  nesting_.store(nesting_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  execute(job);
  show_only_job();  // what waits below may go on, for who knows how long
  nesting_.store(nesting_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

bool worker::at_nesting_limit() const noexcept {
  return nesting_.load(std::memory_order_relaxed) >= crew_.options().nesting_limit;
}

// While it waits. In a deterministic pool there is nobody else to do the work.
bool worker::may_help() const noexcept { return !at_nesting_limit() || crew_.is_deterministic(); }

// -- giving work away -----------------------------------------------------------------------------

void worker::push(queued_job& job) noexcept {
  count_spawn();
  deque_owner own(queue_);
  if (!own.has_room()) [[unlikely]]
    return give_back(job);
  own.push(job_ref::batchable(job));
  offer_work();
}

void worker::push_last(queued_job& job) noexcept {
  if (crew_.outside().size() > 0) {
    count_spawn();
    return give_back(job);
  }
  if (only_job_ == nullptr && !crew_.is_deterministic() && deque_owner(queue_).size() == 0) {
    count_spawn();
    only_job_ = &job;
    return;
  }
  show_only_job();
  older_first_ = deque_owner(queue_).size();
  push(job);
}

void worker::show_only_job() noexcept {
  queued_job* const hidden = std::exchange(only_job_, nullptr);
  if (hidden == nullptr) return;
  deque_owner own(queue_);
  if (!own.has_room()) [[unlikely]]
    return give_back(*hidden);
  own.push(job_ref::batchable(*hidden));
  offer_work();
}

// To the queue that needs no memory.
void worker::give_back(queued_job& job) noexcept {
  crew_.outside().push_again(job);
  crew_.announce_work();
}

void worker::offer_work() noexcept {
  light_fence();  // after the push, before the poll: sleep.md
  if (work_wanted()) give_away();
}

void worker::give_away() noexcept {
  deque_owner own(queue_);
  // The full fence between the push and the look for a sleeper, where membarrier is not to be had.
  if (own.is_fenced()) own.publish_all();
  // Without a vacant seat nobody has to be woken, and whoever goes to bed looks for this job first.
  const bool somebody_sleeps = crew_.beds().has_vacant_seat();
  if (!own.is_fenced()) own.publish_some(somebody_sleeps ? 1 : least_batch_for_a_searcher);
  if (somebody_sleeps) crew_.announce_work();
  // The deterministic pool has no thieves. Now and then it plays one: some job runs to its end
  // here, as if it had been stolen and finished before the fork returned.
  if (crew_.is_deterministic() && !at_nesting_limit() && random() % 2 == 0) {
    if (const job_ref job = draw_job()) {
      const running_for_nobody meanwhile;
      note_helping();
      execute_nested(job);
    }
  }
}

void worker::run_inline(queued_job& job) noexcept {
  count_spawn();
  note_helping();
  execute_nested(job_ref::batchable(job));
}

// -- waiting --------------------------------------------------------------------------------------

void worker::wait_until(latch& done) noexcept {
  const running_for_nobody meanwhile;
  note_helping();
  for (unsigned round = 0; !done.is_set();) {
    if (may_help()) {
      if (const job_ref job = find_job()) {
        end_search();
        execute_nested(job);
        round = 0;
        continue;
      }
      begin_search();
    }
    if (round < crew_.options().spin_limit + crew_.options().yield_limit) {
      pause_between_looks(round++);
      continue;
    }
    WEFT_ASSERT(
        !crew_.is_deterministic(),
        "a job of a deterministic pool waits for something that no job of the pool will do; "
        "signal it from a job, or use a pool with threads");
    sleep_at(done);
    round = 0;
  }
  end_search();
  activity_.store(worker_activity::running, std::memory_order_relaxed);
}

void worker::wait_without_helping(latch& done) noexcept {
  WEFT_ASSERT(!crew_.is_deterministic() || done.is_set(),
              "a job of a deterministic pool waits for a permit that only another job could give "
              "back, and there is one thread; acquire with a callback, or use a pool with threads");
  for (unsigned round = 0; !done.is_set(); ++round) {
    if (round < crew_.options().spin_limit) {
      relax_cpu();
    } else {
      sleep_at(done);
    }
  }
  activity_.store(worker_activity::running, std::memory_order_relaxed);
}

bool worker::wait_until(latch& done, std::chrono::steady_clock::time_point deadline) noexcept {
  const running_for_nobody meanwhile;
  note_helping();
  while (!done.is_set()) {
    if (may_help()) {
      if (const job_ref job = find_job()) {
        execute_nested(job);
        continue;
      }
    }
    if (std::chrono::steady_clock::now() >= deadline) return false;
    constexpr timespec nap{.tv_sec = 0, .tv_nsec = 50'000};
    ::nanosleep(&nap, nullptr);
    note_helping();
  }
  return true;
}

void worker::run_until(const latch& done) noexcept {
  const running_for_nobody meanwhile;
  note_helping();
  while (!done.is_set()) {
    const job_ref job = find_job();
    if (!job) return;
    execute(job);
  }
}

void worker::run_all() noexcept {
  const running_for_nobody meanwhile;
  note_helping();
  while (const job_ref job = find_job()) execute(job);
}

void worker::note_helping() noexcept {
  if (weft::observer* const o = crew_.observer()) [[unlikely]]
    o->worker_helps(index_);
}

void worker::begin_search() noexcept {
  if (searching_) return;
  searching_ = true;
  activity_.store(worker_activity::searching, std::memory_order_relaxed);
  crew_.beds().start_searching();
  if (weft::observer* const o = crew_.observer()) [[unlikely]]
    o->worker_searches(index_);
}

void worker::end_search() noexcept {
  if (!searching_) return;
  searching_ = false;
  if (crew_.beds().stop_searching() && crew_.has_work()) crew_.beds().wake_one();
}

void worker::pause_between_looks(unsigned round) noexcept {
  if (crew_.is_deterministic()) return;
  const unsigned spins = crew_.options().spin_limit;
  if (round < spins) {
    relax_cpu();
    return;
  }
  // Owners publish at their next fork. One that has not by now sits in a long job.
  if (round == spins) publish_for_the_busy();
  sched_yield();
}

void worker::publish_for_the_busy() noexcept {
  const unsigned count = crew_.worker_count();
  for (unsigned i = 0; i < count; ++i) {
    worker& other = crew_.worker_at(i);
    if (&other == this || other.queue().has_public_jobs() || !other.queue().has_jobs()) continue;
    if (other.queue().seize()) return;
  }
}

// The pool has become smaller. What this worker had queued is left to the others.
bool worker::leave_surplus_seat() noexcept {
  publish_all();
  if (!crew_.beds().try_leave_surplus_seat()) return true;
  observer* const told = note_falling_asleep(worker_activity::asleep);
  const wake_call call = crew_.beds().sleep_seatless(bed_, [this] { return crew_.has_work(); });
  note_waking(told);
  searching_ = call == wake_call::search;
  return call != wake_call::exit;
}

bool worker::sleep_idle() noexcept {
  publish_all();
  searching_ = false;  // the sleep counts it out, and a guest may sit here before we wake
  observer* const told = note_falling_asleep(worker_activity::asleep);
  const wake_call call = crew_.beds().sleep_idle(bed_, [this] { return crew_.has_work(); });
  note_waking(told);
  searching_ = call == wake_call::search;
  return call != wake_call::exit;
}

void worker::sleep_at(latch& done) noexcept {
  publish_all();
  observer* const told = note_falling_asleep(worker_activity::waiting);
  const auto kind = searching_ ? sleep_kind::waiting : sleep_kind::deaf;
  const auto slept =
      crew_.beds().sleep_at(done, *this, bed_, kind, [this] { return crew_.has_work(); });
  note_waking(told);
  searching_ = slept.call == wake_call::search;
  WEFT_ASSERT(slept.registered || done.is_set(),
              "two threads wait at one future, group or permit; wait at it from one");
  if (!slept.registered || done.try_unregister(*this)) return;  // set before, or woken to help
  // The latch is set, and its setter is in wake() below, or was. It may not lose this worker, nor
  // the pool around it, before it has left: wait for its last word.
  while (!delivered_.load(std::memory_order_acquire)) sched_yield();  // [D2] pairs with [D1]
  delivered_.store(false, std::memory_order_relaxed);
}

observer* worker::note_falling_asleep(worker_activity as) noexcept {
  bump(parks_);
  activity_.store(as, std::memory_order_relaxed);
  observer* const told = crew_.observer();
  if (told != nullptr) [[unlikely]]
    told->worker_sleeps(index_);
  return told;
}

void worker::note_waking(observer* told) noexcept {
  bump(wakes_);
  activity_.store(worker_activity::searching, std::memory_order_relaxed);
  if (told != nullptr) [[unlikely]]
    told->worker_wakes(index_);
}

void worker::wake() noexcept {
  crew_.beds().resume(bed_);
  delivered_.store(true, std::memory_order_release);  // [D1] the last touch
}

// -- the deterministic pool -----------------------------------------------------------------------

job_ref worker::draw_job() noexcept {
  while (const job_ref job = deque_owner(queue_).take_oldest()) drawn_.push_back(job);
  for (;;) {
    const steal_result taken = crew_.outside().take(deque_owner(queue_), 0);
    if (taken.status != steal_status::stolen) break;
    bump(injected_);
    drawn_.push_back(taken.job);
  }
  if (drawn_.empty()) return {};
  std::swap(drawn_[random() % drawn_.size()], drawn_.back());
  const job_ref job = drawn_.back();
  drawn_.pop_back();
  return job;
}

worker_stats worker::stats() noexcept {
  auto read = [](const counter& c) { return c.load(std::memory_order_relaxed); };
  return {.spawned = read(spawned_),
          .executed = read(executed_),
          .stolen = read(stolen_),
          .injected = read(injected_),
          .dropped = read(dropped_),
          .parks = read(parks_),
          .wakes = read(wakes_),
          .queued = static_cast<std::size_t>(queue().size()),
          .nesting = nesting_.load(std::memory_order_relaxed),
          .activity = activity_.load(std::memory_order_relaxed),
          .lent = has_guest_.load(std::memory_order_relaxed)};
}

}  // namespace weft::detail
