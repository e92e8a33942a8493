#include <weft/process/supervisor.hpp>

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <weft/base/assert.hpp>

#include "process/child.hpp"
#include "process/descriptor.hpp"
#include "process/left_behind.hpp"
#include "process/pidfd.hpp"
#include "process/scheduling.hpp"
#include "process/spawn.hpp"

namespace weft::process {
namespace {

using time_point = child::time_point;

constexpr std::size_t scratch_size = std::size_t{64} << 10U;

descriptor checked(int value, const char* what) {
  if (value < 0) throw std::system_error(errno, std::generic_category(), what);
  return descriptor(value);
}

// No other process, now or before, on this machine or another, has made the same.
std::string make_mark_prefix() {
  std::random_device random;
  return std::to_string(::getpid()) + "-" + std::to_string(random()) + std::to_string(random()) +
         "-";
}

// A thread that is made meanwhile takes no signals: they are for the program's own threads.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// Which descriptor of which command an event is about.
enum class source : std::uint8_t { process, output };

std::uint64_t pack(child_id id, source from) noexcept {
  return id << 1U | static_cast<std::uint64_t>(from);
}

}  // namespace

// Everything about a running command belongs to the loop's thread. The others, and completions,
// leave requests; those of other threads wake the loop.
class supervisor::loop {
 public:
  loop();
  ~loop();
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  child_id start(const command& what, const limits& allowed, completion done);
  void stop(child_id id, stop_mode mode) { post(stop_request{id, mode}); }

 private:
  struct arrival {
    child_id id = 0;
    child what;
    completion done;
  };
  struct refusal {
    outcome result;
    completion done;
  };
  // A command that the loop's thread has to start.
  struct order {
    child_id id = 0;
    command what;
    limits allowed;
    completion done;
  };
  struct stop_request {
    child_id id = 0;
    stop_mode mode = stop_mode::gently;
  };
  using request = std::variant<arrival, refusal, order, stop_request>;

  struct entry {
    entry(child c, completion d) : what(std::move(c)), done(std::move(d)) {}

    child what;
    completion done;
    bool watches_process = false;
    bool watches_output = false;
    std::optional<time_point> deadline;  // as it stands in deadlines_
  };

  [[nodiscard]] request spawn(child_id id, const command& what, const limits& allowed,
                              completion done);
  void post(request made);
  [[nodiscard]] bool is_here() const noexcept {
    return std::this_thread::get_id() == thread_.get_id();
  }
  void require_owner() const noexcept;

  void run() noexcept;
  bool take_requests();
  void take(request made, moment& at);
  void take(arrival arrived, moment& at);
  void take(refusal refused, moment& at);
  void take(order ordered, moment& at);
  void take(stop_request asked, moment& at);
  void stop_everything(moment& at);
  std::span<const epoll_event> wait(std::span<epoll_event> room);
  void handle(std::span<const epoll_event> events, moment& at);
  void handle_deadlines(moment& at);
  void settle(child_id id, entry& changed);

  [[nodiscard]] int milliseconds_to_wait();
  void watch(int what, child_id id, source from);
  void forget(int what);

  const pid_t owner_ = ::getpid();
  const std::string mark_prefix_ = make_mark_prefix();
  const spawner spawner_;
  const descriptor epoll_;
  const descriptor wake_;

  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<request> requests_;
  child_id last_id_ = 0;
  bool closing_ = false;

  // Of the loop's thread.
  std::vector<char> scratch_ = std::vector<char>(scratch_size);
  std::unordered_map<child_id, entry> entries_;
  std::set<std::pair<time_point, child_id>> deadlines_;
  left_behind left_behind_;

  std::thread thread_;  // last: it uses the others
};

supervisor::loop::loop()
    : epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "weft: epoll_create1")),
      wake_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "weft: eventfd")) {
  // Asked once, so that no command is started by a kernel that cannot wait for it.
  if (!open_pidfd(owner_)) {
    throw std::system_error(errno, std::generic_category(), "weft: pidfd_open");
  }
  watch(wake_.get(), 0, source::process);
  const signals_blocked meanwhile;
  thread_ = std::thread([this] { run(); });
}

supervisor::loop::~loop() {
  require_owner();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

// --- On any thread -----------------------------------------------------------------------------

child_id supervisor::loop::start(const command& what, const limits& allowed, completion done) {
  require_owner();
  child_id id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = ++last_id_;
  }
  // A program inherits the class of the thread that starts it.
  if (!is_here() && is_lowered(standing_of_this_thread(), standing_of_main_thread())) {
    post(order{id, what, allowed, std::move(done)});
  } else {
    post(spawn(id, what, allowed, std::move(done)));
  }
  return id;
}

supervisor::loop::request supervisor::loop::spawn(child_id id, const command& what,
                                                  const limits& allowed, completion done) {
  bool closing = false;
  {
    const std::lock_guard lock(mutex_);
    closing = closing_;
  }
  const auto started = std::chrono::steady_clock::now();
  std::string mark = mark_prefix_ + std::to_string(id);
  spawned process;
  if (closing) {
    process.error = ECANCELED;
    process.problem = "not started: the supervisor is shutting down";
  } else {
    process = spawner_.spawn(what, mark);
  }
  if (process.pid == 0) {
    outcome failed;
    failed.start_error = process.error;
    failed.problem = std::move(process.problem);
    failed.started = started;
    return refusal{std::move(failed), std::move(done)};
  }
  return arrival{id, child(std::move(process), std::move(mark), allowed, started), std::move(done)};
}

void supervisor::loop::post(request made) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    is_first = requests_.empty();
    requests_.push_back(std::move(made));
  }
  // The loop looks here before it sleeps, so only the first of several has to wake it, and nobody
  // on its own thread.
  if (is_first && !is_here()) ::eventfd_write(wake_.get(), 1);
}

void supervisor::loop::require_owner() const noexcept {
  WEFT_ASSERT(::getpid() == owner_,
              "a supervisor is used in a forked child, where its thread does not run; make a new "
              "one there");
}

// --- On the loop's thread ----------------------------------------------------------------------

void supervisor::loop::run() noexcept {
  raise_this_thread();
  std::array<epoll_event, 64> room{};
  while (take_requests()) {
    const auto events = wait(room);
    moment at(scratch_);
    handle(events, at);
    handle_deadlines(at);
  }
}

// False when there is nothing left to do, for ever.
bool supervisor::loop::take_requests() {
  std::vector<request> taken;
  bool closing = false;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(requests_);
    closing = closing_;
  }
  if (closing && taken.empty() && entries_.empty()) return false;
  moment at(scratch_);
  for (request& each : taken) take(std::move(each), at);
  if (closing) stop_everything(at);
  return true;
}

void supervisor::loop::take(request made, moment& at) {
  std::visit([&](auto& each) { take(std::move(each), at); }, made);
}

void supervisor::loop::take(arrival arrived, moment& at) {
  entry& added = entries_.try_emplace(arrived.id, std::move(arrived.what), std::move(arrived.done))
                     .first->second;
  watch(added.what.output_descriptor(), arrived.id, source::output);
  added.watches_output = true;
  if (added.what.process_descriptor() >= 0) {
    watch(added.what.process_descriptor(), arrived.id, source::process);
    added.watches_process = true;
  } else {
    added.what.on_process(at);
  }
  settle(arrived.id, added);
}

void supervisor::loop::take(refusal refused, moment& /*at*/) {
  refused.done(std::move(refused.result));
}

void supervisor::loop::take(order ordered, moment& at) {
  take(spawn(ordered.id, ordered.what, ordered.allowed, std::move(ordered.done)), at);
}

void supervisor::loop::take(stop_request asked, moment& at) {
  const auto found = entries_.find(asked.id);
  if (found == entries_.end()) return;
  found->second.what.stop(asked.mode, at);
  settle(asked.id, found->second);
}

void supervisor::loop::stop_everything(moment& at) {
  std::vector<child_id> all;
  all.reserve(entries_.size());
  for (const auto& [id, each] : entries_) all.push_back(id);
  for (const child_id id : all) take(stop_request{id, stop_mode::now}, at);
}

int supervisor::loop::milliseconds_to_wait() {
  {
    // Completions may have left some meanwhile.
    const std::lock_guard lock(mutex_);
    if (!requests_.empty() || (closing_ && entries_.empty())) return 0;
  }
  if (deadlines_.empty()) return -1;
  const auto left = deadlines_.begin()->first - std::chrono::steady_clock::now();
  constexpr std::chrono::milliseconds longest = std::chrono::hours(1);
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left);
  return static_cast<int>(std::clamp<std::chrono::milliseconds>(rounded, {}, longest).count());
}

std::span<const epoll_event> supervisor::loop::wait(std::span<epoll_event> room) {
  const int count = ::epoll_wait(epoll_.get(), room.data(), static_cast<int>(room.size()),
                                 milliseconds_to_wait());
  return room.first(count > 0 ? static_cast<std::size_t>(count) : 0);
}

void supervisor::loop::handle(std::span<const epoll_event> events, moment& at) {
  for (const epoll_event& event : events) {
    const child_id id = event.data.u64 >> 1U;
    if (id == 0) {
      eventfd_t count = 0;
      ::eventfd_read(wake_.get(), &count);
      continue;
    }
    const auto found = entries_.find(id);
    if (found == entries_.end()) continue;  // done, by another event of this round
    if (event.data.u64 == pack(id, source::output)) {
      found->second.what.on_output(at);
    } else {
      found->second.what.on_process(at);
    }
    settle(id, found->second);
  }
}

void supervisor::loop::handle_deadlines(moment& at) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= at.now()) {
    const child_id id = deadlines_.begin()->second;
    const auto found = entries_.find(id);
    WEFT_ASSERT(found != entries_.end(), "a deadline belongs to a command that runs");
    found->second.what.on_deadline(at);
    settle(id, found->second);
  }
}

// After anything that may have changed a command. When it is done, `changed` is gone afterwards.
void supervisor::loop::settle(child_id id, entry& changed) {
  const child& what = changed.what;
  // Closing a descriptor would not end its events if somebody has a copy of it, such as a process
  // that another thread is just forking.
  if (changed.watches_process && (what.has_ended() || what.is_done())) {
    forget(what.process_descriptor());
    changed.watches_process = false;
  }
  if (changed.watches_output && (what.is_output_at_end() || what.is_done())) {
    forget(what.output_descriptor());
    changed.watches_output = false;
  }
  const auto wanted = what.is_done() ? std::nullopt : what.deadline();
  if (changed.deadline != wanted) {
    if (changed.deadline) deadlines_.erase({*changed.deadline, id});
    if (wanted) deadlines_.emplace(*wanted, id);
    changed.deadline = wanted;
  }
  if (!what.is_done()) return;
  left_behind_.reap_some();
  left_behind_.add_group_of(what.pid());
  // Completions may start commands, so nothing of this one may be in the way.
  auto node = entries_.extract(id);
  outcome result = std::move(node.mapped().what).take_outcome();
  const completion done = std::move(node.mapped().done);
  node = {};
  done(std::move(result));
}

void supervisor::loop::watch(int what, child_id id, source from) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = pack(id, from)}};
  WEFT_ASSERT(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, what, &event) == 0,
              "the kernel refuses to watch another command; see fs.epoll.max_user_watches");
}

void supervisor::loop::forget(int what) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, what, nullptr); }

// --- The public face ---------------------------------------------------------------------------

supervisor::supervisor() : loop_(std::make_unique<loop>()) {}

supervisor::~supervisor() = default;

child_id supervisor::start(const command& what, const limits& allowed, completion done) {
  return loop_->start(what, allowed, std::move(done));
}

void supervisor::stop(child_id child, stop_mode mode) { loop_->stop(child, mode); }

bool become_subreaper() noexcept { return ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0; }

}  // namespace weft::process
