#pragma once

#include <cstdint>
#include <vector>

#include <weft/base/atomic.hpp>
#include <weft/core/asymmetric_fence.hpp>
#include <weft/core/bell.hpp>
#include <weft/core/latch.hpp>

namespace weft::detail {

// What a thread is told when it is woken.
enum class wake_call : bell::message {
  search = 1,  // there is work somewhere; you hold a seat and are counted as searching
  resume = 2,  // what you waited for has happened; you hold a seat
  exit = 3,    // the pool ends
};

// How a worker sleeps, that is, who may wake it.
enum class sleep_kind : std::uint32_t {
  awake = 0,
  idle = 1,     // has no job at all: woken for work, or its seat lent to an outside thread
  waiting = 2,  // inside a job, at a latch: woken by the latch, or for work to help with
  deaf = 3,     // inside a job, nested as deep as allowed: woken by the latch alone
};

// The bed of one worker.
struct sleeper {
  // Who: the worker sets it when it lies down; whoever wins the exchange back to `awake` must ring.
  atomic<std::uint32_t> kind{static_cast<std::uint32_t>(sleep_kind::idle)};
  bell home;              // rung for the worker's own thread
  bell guest;             // rung for an outside thread that has borrowed the seat
  bool borrowed = false;  // occupant only; wakers read it while the occupant sleeps

  bell& occupant() noexcept { return borrowed ? guest : home; }
};

// Who may run, who looks for work, who sleeps, who wakes whom. The protocol and why no wake-up is
// lost: src/core/sleep.md.
//
// A pool has `seats`; a thread needs one to run jobs. Counts live in one word:
//
//   bits    field      meaning
//   0-15    searching  seat holders that have no job and look for one
//   16-31   vacant     seats that nobody holds
//   32-47   surplus    seat holders to be sent off (after a resize down or an overdraft)
//   48-63   suspended  workers that sleep inside a job
//
// vacant and surplus are never both positive.
// Threads: any, where a member does not say otherwise.
class sleep {
 public:
  struct counts {
    unsigned searching, vacant, surplus, suspended;
  };

  // `fenced`: every fork is followed by a full fence of its own, so none has to be sent to it
  // (deque::deque).
  explicit sleep(unsigned seats, bool fenced = false) noexcept;

  // The pool's sleepers, before the first thread starts and again when one is added.
  void add_sleeper(sleeper& s) { sleepers_.push_back(&s); }
  void reserve(std::size_t count) { sleepers_.reserve(count); }
  void show_sleepers() noexcept;  // makes the ones added visible to wakers

  // What forks poll, see is_demanded().
  [[nodiscard]] const atomic<std::uint64_t>& word() const noexcept { return word_; }
  // Read by a worker that has work to give away. seq_cst: where forks are fenced, a worker that
  // lies down after this read sees the job that was made public before it.
  [[nodiscard]] bool has_vacant_seat() const noexcept {
    return unpack(word_.load(std::memory_order_seq_cst)).vacant > 0;
  }

  // -- called by seat holders ---------------------------------------------------------------------
  void start_searching() noexcept;
  // True when nobody searches any more although a seat is vacant: the caller looks once more for
  // work, and calls wake_one() if it sees some.
  [[nodiscard]] bool stop_searching() noexcept;
  // Gives the seat up if there is one too many.
  [[nodiscard]] bool try_leave_surplus_seat() noexcept;

  // Gives up the seat of a searching worker without a job and sleeps. `has_work` scans every source
  // of work there is. Returns search, with a seat, or exit.
  template <class HasWork>
  wake_call sleep_idle(sleeper& self, HasWork has_work) noexcept {
    lie_down(self, sleep_kind::idle, /*was_searching=*/true);
    if (exits_now(self)) return wake_call::exit;
    fence_all_forks();
    look_back(&self, has_work);
    return wait(self, sleep_kind::idle);
  }

  struct latch_sleep {
    wake_call call;   // search or resume; with a seat
    bool registered;  // still is, or set() has called or will call `w`
  };
  // Sleeps inside a job until the latch is set, or, when `kind` is waiting, there is work to help
  // with. A waiting worker is searching before, a deaf one is not.
  template <class HasWork>
  latch_sleep sleep_at(latch& done, waiter& w, sleeper& self, sleep_kind kind,
                       HasWork has_work) noexcept {
    const bool searching = kind == sleep_kind::waiting;
    lie_down(self, kind, searching);
    // Lie down, then register: the setter that finds `w` must find it asleep.
    const bool registered = done.try_register(w);
    if (!registered) resume(self);
    fence_all_forks();
    look_back(searching ? &self : nullptr, has_work);
    return {.call = wait(self, kind), .registered = registered};
  }

  // As sleep_idle() for a worker whose seat is gone already, see try_leave_surplus_seat(). It looks
  // back too: a seat may have become vacant before it lay down, with nobody to call.
  template <class HasWork>
  wake_call sleep_seatless(sleeper& self, HasWork has_work) noexcept {
    self.kind.store(static_cast<std::uint32_t>(sleep_kind::idle), std::memory_order_seq_cst);
    if (exits_now(self)) return wake_call::exit;
    fence_all_forks();
    look_back(&self, has_work);
    return wait(self, sleep_kind::idle);
  }
  // Waits for the first call. The worker is born asleep.
  wake_call first_call(sleeper& self) noexcept { return wait(self, sleep_kind::idle); }

  // -- called by whoever made work visible --------------------------------------------------------

  // One read-modify-write: a searcher that stops searching afterwards sees the work.
  void work_added() noexcept;
  // Wakes one sleeper unless somebody searches already.
  void wake_one() noexcept { wake_for_work(nullptr); }
  // The latch at which this worker sleeps was set. False when it is awake.
  bool resume(sleeper& s) noexcept;

  // -- outside threads that lend themselves -------------------------------------------------------

  // A seat whose worker sleeps idle, or null.
  template <class HasWork>
  [[nodiscard]] sleeper* borrow_seat(HasWork has_work) noexcept {
    bool held = false;
    if (sleeper* const s = try_borrow_seat(held)) return s;
    // Every vacant seat belongs to a worker that sleeps inside a job. While we held one, somebody
    // may have found none: look back, as whoever frees a seat must.
    if (held) after_freeing(free_seat(), has_work);
    return nullptr;
  }
  template <class HasWork>
  void return_seat(sleeper& s, HasWork has_work) noexcept {
    s.borrowed = false;
    after_freeing(lie_down(s, sleep_kind::idle, /*was_searching=*/false), has_work);
    // The pool has ended meanwhile, and did not find the worker in its bed.
    if (exits_now(s)) s.home.ring(static_cast<bell::message>(wake_call::exit));
  }

  // -- called by the pool, one caller at a time ---------------------------------------------------
  void set_seats(unsigned seats) noexcept;
  [[nodiscard]] unsigned seats() const noexcept { return seats_.load(std::memory_order_relaxed); }
  // Returns when every seat is vacant, no worker sleeps inside a job and no work is left. The door
  // must be shut before. `has_work` as above.
  template <class HasWork>
  void wait_drained(HasWork has_work) noexcept {
    draining_.store(true, std::memory_order_seq_cst);
    look_back(nullptr, has_work);
    drained_.wait();
  }
  // Tells every worker to exit. Only when drained.
  void send_all_home() noexcept;

  [[nodiscard]] counts read() const noexcept;

 private:
  static constexpr std::uint64_t one_searching = 1;
  static constexpr std::uint64_t one_vacant = std::uint64_t{1} << 16;
  static constexpr std::uint64_t one_surplus = std::uint64_t{1} << 32;
  static constexpr std::uint64_t one_suspended = std::uint64_t{1} << 48;
  static counts unpack(std::uint64_t word) noexcept;

  static std::uint64_t without_holder(std::uint64_t word) noexcept;
  static std::uint64_t with_holder(std::uint64_t word) noexcept;
  template <class Change>
  counts change_word(Change change) noexcept;

  void fence_all_forks() const noexcept {
    if (!fenced_) heavy_fence();
  }
  counts lie_down(sleeper& self, sleep_kind kind, bool was_searching) noexcept;
  wake_call wait(sleeper& self, sleep_kind kind) noexcept;
  bool exits_now(sleeper& self) noexcept;
  void wake_for_work(sleeper* preferred) noexcept;
  bool try_claim_seat_to_search() noexcept;
  void unclaim_seat() noexcept;
  bool call_somebody(sleeper* preferred) noexcept;
  bool somebody_can_be_called() const noexcept;
  sleeper* try_borrow_seat(bool& held) noexcept;
  counts free_seat() noexcept;
  bool all_seats_vacant() const noexcept;
  void ring_drained() noexcept;

  template <class HasWork>
  void after_freeing(counts now, HasWork has_work) noexcept {
    // Where nobody runs a job, nobody can have pushed without seeing the seat become vacant.
    if (seats() + now.surplus > now.vacant + now.searching) fence_all_forks();
    look_back(nullptr, has_work);
  }

  // The look back of whoever has just freed a seat: is there work after all, or was it the last?
  template <class HasWork>
  void look_back(sleeper* self, HasWork has_work) noexcept {
    if (has_work()) return wake_for_work(self);
    if (!draining_.load(std::memory_order_seq_cst) || !all_seats_vacant()) return;
    // Nobody runs and the door is shut: what the scan sees now is all there will ever be.
    if (has_work()) return wake_for_work(self);
    ring_drained();
  }

  // Every transition is a read-modify-write, so all of them are in one order and each one sees what
  // the earlier ones published. Only the poll of a fork reads it plainly.
  alignas(64) atomic<std::uint64_t> word_;

  const bool fenced_;
  alignas(64) std::vector<sleeper*> sleepers_;  // grows only before show_sleepers(), never moves
  atomic<std::uint32_t> shown_{0};              // how many of them wakers may touch; publishes them
  atomic<std::uint32_t> next_{0};     // where the next search for a sleeper starts: a hint
  atomic<unsigned> seats_;            // written by set_seats(), read by whoever frees the last one
  atomic<bool> draining_{false};      // written by wait_drained(), seq_cst against word_
  atomic<bool> drained_once_{false};  // the drained_ bell is rung once
  atomic<bool> exiting_{false};       // written by send_all_home(), seq_cst against `kind`
  bell drained_;
};

}  // namespace weft::detail
