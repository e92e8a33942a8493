#include "sleep.hpp"

namespace weft::detail {

sleep::sleep(unsigned seats, bool fenced) noexcept
    : word_(seats * one_vacant), fenced_(fenced), seats_(seats) {}

void sleep::show_sleepers() noexcept {
  // Publishes the entries; pairs with the acquire loads below.
  shown_.store(static_cast<std::uint32_t>(sleepers_.size()), std::memory_order_release);
}

sleep::counts sleep::unpack(std::uint64_t word) noexcept {
  auto field = [word](int shift) { return static_cast<unsigned>((word >> shift) & 0xffff); };
  return {.searching = field(0), .vacant = field(16), .surplus = field(32), .suspended = field(48)};
}

sleep::counts sleep::read() const noexcept { return unpack(word_.load(std::memory_order_relaxed)); }

void sleep::start_searching() noexcept {
  word_.fetch_add(one_searching, std::memory_order_seq_cst);
}

bool sleep::stop_searching() noexcept {
  const counts before = unpack(word_.fetch_sub(one_searching, std::memory_order_seq_cst));
  return before.searching == 1 && before.vacant > 0;
}

bool sleep::try_leave_surplus_seat() noexcept {
  std::uint64_t w = word_.load(std::memory_order_relaxed);
  while (unpack(w).surplus > 0) {
    if (word_.compare_exchange_weak(w, w - one_surplus, std::memory_order_seq_cst)) return true;
  }
  return false;
}

// The word after a seat was given up: it is vacant, unless there was one too many.
std::uint64_t sleep::without_holder(std::uint64_t word) noexcept {
  return unpack(word).surplus > 0 ? word - one_surplus : word + one_vacant;
}

// The word after a seat was taken: a vacant one, or else one too many.
std::uint64_t sleep::with_holder(std::uint64_t word) noexcept {
  return unpack(word).vacant > 0 ? word - one_vacant : word + one_surplus;
}

template <class Change>
sleep::counts sleep::change_word(Change change) noexcept {
  std::uint64_t w = word_.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    next = change(w);
  } while (!word_.compare_exchange_weak(w, next, std::memory_order_seq_cst));
  return unpack(next);
}

sleep::counts sleep::lie_down(sleeper& self, sleep_kind kind, bool was_searching) noexcept {
  // First lie down, then free the seat: a vacant seat always has somebody to be woken for it.
  self.kind.store(static_cast<std::uint32_t>(kind), std::memory_order_seq_cst);
  return change_word([=](std::uint64_t w) {
    return without_holder(w) - (was_searching ? one_searching : 0) +
           (kind != sleep_kind::idle ? one_suspended : 0);
  });
}

wake_call sleep::wait(sleeper& self, sleep_kind kind) noexcept {
  // Only the worker's own thread sleeps idle, and while it does the seat may be borrowed: then
  // `borrowed` speaks of somebody else.
  bell& mine = kind == sleep_kind::idle ? self.home : self.occupant();
  const auto call = static_cast<wake_call>(mine.wait());
  if (kind != sleep_kind::idle) word_.fetch_sub(one_suspended, std::memory_order_seq_cst);
  return call;
}

// Either send_all_home() finds this worker asleep, or the worker finds exiting_ set. When both do,
// one of them wins the exchange, and a bell rings only for a worker that waits for it.
bool sleep::exits_now(sleeper& self) noexcept {
  if (!exiting_.load(std::memory_order_seq_cst)) return false;
  auto idle = static_cast<std::uint32_t>(sleep_kind::idle);
  return self.kind.compare_exchange_strong(idle, static_cast<std::uint32_t>(sleep_kind::awake),
                                           std::memory_order_seq_cst, std::memory_order_relaxed);
}

void sleep::work_added() noexcept {
  // The addition of zero takes this thread's place in the order of the word's changes. If a
  // searcher is counted here, its own stop_searching() comes later, and sees the work that was
  // added.
  const counts now = unpack(word_.fetch_add(0, std::memory_order_seq_cst));
  if (now.searching == 0 && now.vacant > 0) wake_one();
}

void sleep::wake_for_work(sleeper* preferred) noexcept {
  while (try_claim_seat_to_search()) {
    if (call_somebody(preferred)) return;
    // While the seat was claimed, a worker that lay down may have left the work to us. It is asleep
    // by now, so one more look finds it; whoever lies down later finds the seat vacant itself.
    unclaim_seat();
    if (!somebody_can_be_called()) return;
  }
}

bool sleep::somebody_can_be_called() const noexcept {
  const std::uint32_t count = shown_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto kind = static_cast<sleep_kind>(sleepers_[i]->kind.load(std::memory_order_seq_cst));
    if (kind == sleep_kind::idle || kind == sleep_kind::waiting) return true;
  }
  return false;
}

bool sleep::try_claim_seat_to_search() noexcept {
  std::uint64_t w = word_.load(std::memory_order_seq_cst);
  for (;;) {
    const counts now = unpack(w);
    if (now.vacant == 0 || now.searching > 0) return false;
    if (word_.compare_exchange_weak(w, w - one_vacant + one_searching, std::memory_order_seq_cst)) {
      return true;
    }
  }
}

void sleep::unclaim_seat() noexcept {
  change_word([](std::uint64_t w) { return without_holder(w) - one_searching; });
}

bool sleep::call_somebody(sleeper* preferred) noexcept {
  auto try_call = [](sleeper& s) noexcept {
    auto kind = s.kind.load(std::memory_order_seq_cst);
    if (kind != static_cast<std::uint32_t>(sleep_kind::idle) &&
        kind != static_cast<std::uint32_t>(sleep_kind::waiting)) {
      return false;
    }
    if (!s.kind.compare_exchange_strong(kind, static_cast<std::uint32_t>(sleep_kind::awake),
                                        std::memory_order_seq_cst, std::memory_order_relaxed)) {
      return false;
    }
    s.occupant().ring(static_cast<bell::message>(wake_call::search));
    return true;
  };
  if (preferred != nullptr && try_call(*preferred)) return true;
  const std::uint32_t count = shown_.load(std::memory_order_acquire);
  const std::uint32_t start = next_.load(std::memory_order_relaxed);  // any start is right
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t at = (start + i) % count;
    if (try_call(*sleepers_[at])) {
      next_.store(at, std::memory_order_relaxed);
      return true;
    }
  }
  return false;  // everyone who could be woken is awake, and will look around before it sleeps
}

bool sleep::resume(sleeper& s) noexcept {
  auto kind = s.kind.load(std::memory_order_seq_cst);
  do {
    if (kind == static_cast<std::uint32_t>(sleep_kind::awake)) return false;
  } while (!s.kind.compare_exchange_weak(kind, static_cast<std::uint32_t>(sleep_kind::awake),
                                         std::memory_order_seq_cst, std::memory_order_seq_cst));
  // A waiter gets its seat back at once. Where none is vacant it overdraws, and the next worker
  // that finishes a job leaves.
  change_word(with_holder);
  s.occupant().ring(static_cast<bell::message>(wake_call::resume));
  return true;
}

sleeper* sleep::try_borrow_seat(bool& held) noexcept {
  held = false;
  std::uint64_t w = word_.load(std::memory_order_relaxed);
  do {
    if (unpack(w).vacant == 0) return nullptr;
  } while (!word_.compare_exchange_weak(w, w - one_vacant, std::memory_order_seq_cst));
  held = true;
  const std::uint32_t count = shown_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    sleeper& s = *sleepers_[i];
    auto idle = static_cast<std::uint32_t>(sleep_kind::idle);
    if (s.kind.load(std::memory_order_relaxed) != idle) continue;  // the CAS below decides
    if (s.kind.compare_exchange_strong(idle, static_cast<std::uint32_t>(sleep_kind::awake),
                                       std::memory_order_seq_cst, std::memory_order_relaxed)) {
      s.borrowed = true;
      return &s;
    }
  }
  return nullptr;
}

sleep::counts sleep::free_seat() noexcept { return change_word(without_holder); }

void sleep::set_seats(unsigned seats) noexcept {
  const unsigned before = seats_.exchange(seats, std::memory_order_seq_cst);
  for (unsigned i = before; i < seats; ++i) {
    change_word(without_holder);
    wake_one();  // looks around, wakes the next one if there is work for two, sleeps otherwise
  }
  for (unsigned i = seats; i < before; ++i) change_word(with_holder);
}

bool sleep::all_seats_vacant() const noexcept {
  const counts now = unpack(word_.load(std::memory_order_seq_cst));
  return now.vacant == seats() && now.suspended == 0;
}

void sleep::ring_drained() noexcept {
  if (!drained_once_.exchange(true, std::memory_order_seq_cst)) drained_.ring(1);
}

void sleep::send_all_home() noexcept {
  exiting_.store(true, std::memory_order_seq_cst);
  const std::uint32_t count = shown_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto idle = static_cast<std::uint32_t>(sleep_kind::idle);
    if (sleepers_[i]->kind.compare_exchange_strong(
            idle, static_cast<std::uint32_t>(sleep_kind::awake), std::memory_order_seq_cst,
            std::memory_order_relaxed)) {
      sleepers_[i]->home.ring(static_cast<bell::message>(wake_call::exit));
    }
  }
}

}  // namespace weft::detail
