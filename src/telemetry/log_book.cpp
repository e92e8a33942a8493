#include "telemetry/log_book.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include <weft/base/atomic.hpp>

namespace weft::telemetry {
namespace {

std::uint64_t new_book_id() noexcept {
  static constinit atomic<std::uint64_t> previous{0};
  return previous.fetch_add(1, std::memory_order_relaxed) + 1;  // only that they differ
}

std::string name_of_this_thread() {
  char name[16] = {};
  static_cast<void>(::pthread_getname_np(::pthread_self(), name, sizeof(name)));
  return std::string(name) + " " + std::to_string(::gettid());
}

std::size_t checked_events(std::size_t events) {
  constexpr std::size_t most = std::size_t{1} << 28U;
  if (events < 2 || events > most) {
    throw std::invalid_argument("weft: trace_options::events_per_thread is " +
                                std::to_string(events) + "; it must be 2 to " +
                                std::to_string(most));
  }
  return events;
}

std::size_t checked_threads(std::size_t threads) {
  if (threads == 0) {
    throw std::invalid_argument(
        "weft: trace_options::threads_max is 0, so that nothing would be recorded; allow at least "
        "one");
  }
  return threads;
}

}  // namespace

// What a thread holds of books, until it ends: its logs, which go with the books.
class log_book::place_of_a_thread {
 public:
  place_of_a_thread() = default;
  ~place_of_a_thread() {
    is_gone = true;
    last = {};
    for (const held& h : all_) {
      if (h.log == nullptr) continue;
      if (const auto book = h.book.lock()) book->leave(h.log.get());
    }
  }
  place_of_a_thread(const place_of_a_thread&) = delete;
  place_of_a_thread& operator=(const place_of_a_thread&) = delete;

  // Null when the thread is about to end, and what it had is gone.
  static place_of_a_thread* here() {
    if (is_gone) return nullptr;
    static thread_local place_of_a_thread mine;
    return &mine;
  }

  // Null when there is no room for this thread. It is counted once, and may come again.
  [[nodiscard]] thread_log* find_or_enter(log_book& book) {
    std::erase_if(all_, [](const held& h) { return h.book.expired(); });
    auto mine =
        std::find_if(all_.begin(), all_.end(), [&](const held& h) { return h.id == book.id_; });
    const bool is_new = mine == all_.end();
    if (is_new) {
      mine = all_.insert(mine, {.id = book.id_, .book = book.weak_from_this(), .log = nullptr});
    }
    if (mine->log == nullptr) mine->log = book.enter();
    if (mine->log == nullptr && is_new) book.count_refused();
    return mine->log.get();
  }

 private:
  struct held {
    std::uint64_t id;
    std::weak_ptr<log_book> book;
    std::shared_ptr<thread_log> log;  // null when there was no room
  };
  static constinit thread_local bool is_gone;

  std::vector<held> all_;
};

constinit thread_local bool log_book::place_of_a_thread::is_gone = false;
constinit thread_local log_book::last_used log_book::last;

log_book::log_book(const trace_options& options)
    : id_(new_book_id()),
      events_per_thread_(checked_events(options.events_per_thread)),
      threads_max_(checked_threads(options.threads_max)) {}

thread_log* log_book::find_log_in(const reference& to) noexcept {
  try {
    last = {};  // find_or_enter() may free what it points to
    place_of_a_thread* const here = place_of_a_thread::here();
    const std::shared_ptr<log_book> book = to.book.lock();
    if (here == nullptr || book == nullptr) return nullptr;
    // Before it looks: who leaves meanwhile makes it look again.
    const std::uint64_t left = departures.load(std::memory_order_relaxed);
    thread_log* const log = here->find_or_enter(*book);
    last = {.book = to.id, .log = log, .departures = left};
    return log;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// A thread that has ended leaves its log, with what is in it, to one that comes.
std::shared_ptr<thread_log> log_book::enter() {
  std::string thread = name_of_this_thread();
  const std::lock_guard lock(mutex_);
  if (logs_.size() < threads_max_) {
    logs_.push_back({.log = std::make_shared<thread_log>(events_per_thread_, basics_),
                     .thread = std::move(thread)});
    return logs_.back().log;
  }
  const auto free =
      std::find_if(logs_.begin(), logs_.end(), [](const listed& l) { return l.is_free; });
  if (free == logs_.end()) return nullptr;
  free->is_free = false;
  free->log->changes_hands();
  free->thread = std::move(thread);
  return free->log;
}

void log_book::leave(const thread_log* log) noexcept {
  const std::lock_guard lock(mutex_);
  for (listed& l : logs_) {
    if (l.log.get() == log) l.is_free = true;
  }
  departures.fetch_add(1, std::memory_order_relaxed);
}

void log_book::count_refused() noexcept {
  const std::lock_guard lock(mutex_);
  ++refused_;
}

void log_book::span_ended(const ended_span& span) noexcept {
  const std::lock_guard lock(ended_mutex_);
  try {
    ended_.push_back({.name = std::string(span.name),
                      .trace = span.trace,
                      .id = span.id,
                      .parent = span.parent,
                      .begin = span.begin,
                      .end = span.end});
    if (ended_.size() > spans_max) ended_.pop_front();
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
    // One less to be told of.
  }
}

namespace {

log_book::page page_of(const std::string& thread, const thread_log& log, std::uint64_t& first) {
  log_book::page made{.thread = thread, .events = {}, .open = log.open()};
  for (const trace_words& words : log.ring().read(first)) {
    made.events.push_back(trace_event::unpack(words));
  }
  return made;
}

}  // namespace

// Logs are read without the lock, for which threads that come would have to wait.
std::vector<log_book::listed> log_book::all_logs() const {
  const std::lock_guard lock(mutex_);
  return logs_;
}

std::vector<log_book::page> log_book::read() const {
  std::vector<page> all;
  for (const listed& l : all_logs()) {
    std::uint64_t first = 0;
    all.push_back(page_of(l.thread, *l.log, first));
  }
  return all;
}

std::vector<log_book::page> log_book::read_new() {
  const std::lock_guard lock(mutex_);
  std::vector<page> all;
  for (listed& l : logs_) {
    page& p = all.emplace_back(page_of(l.thread, *l.log, l.taken));
    // What it is about comes right behind it, the next time.
    if (!p.events.empty() && p.events.back().what == trace_event::kind::trace) {
      p.events.pop_back();
      --l.taken;
    }
  }
  return all;
}

std::vector<log_book::open_on_thread> log_book::open() const {
  std::vector<open_on_thread> all;
  for (const listed& l : all_logs()) all.push_back(l.log->open());
  return all;
}

std::vector<kept_span> log_book::take_ended() {
  const std::lock_guard lock(ended_mutex_);
  std::vector<kept_span> taken(std::make_move_iterator(ended_.begin()),
                               std::make_move_iterator(ended_.end()));
  ended_.clear();
  return taken;
}

trace_stats log_book::stats() const {
  const std::lock_guard lock(mutex_);
  trace_stats s{.threads = logs_.size(), .refused = refused_};
  for (const listed& l : logs_) {
    const std::uint64_t written = l.log->ring().written();
    const std::uint64_t kept = l.log->ring().capacity() - 1;
    s.events += written;
    if (written > kept) s.overwritten += written - kept;
  }
  return s;
}

}  // namespace weft::telemetry
