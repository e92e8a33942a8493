#include "telemetry/trace_recorder.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include <weft/telemetry/schema.hpp>

namespace weft::telemetry {
namespace {

// A place in an event has room for all of them.
static_assert(trace::lanes_max <= trace_place::lanes_max);
static_assert(observer::workers_max - 1 <=
              std::numeric_limits<decltype(trace_place::worker)>::max());

// Writes what the threads of one lane do into their logs.
class lane_observer final : public observer {
 public:
  lane_observer(log_book::reference book, std::uint16_t lane, pauses_are pauses) noexcept
      : book_(std::move(book)), lane_(lane), pauses_(pauses) {}

 private:
  [[nodiscard]] trace_place at(unsigned worker) const noexcept {
    return {.lane = lane_, .worker = static_cast<std::uint16_t>(worker)};
  }

  [[nodiscard]] thread_log* mine() const noexcept { return log_book::log_in(book_); }

  void job_queued(const void* job) noexcept override {
    if (thread_log* const log = mine()) log->job_queued(lane_, job);
  }
  void job_withdrawn(const void* job) noexcept override {
    if (thread_log* const log = mine()) log->job_withdrawn(lane_, job);
  }
  void job_begins(unsigned worker, const void* job) noexcept override {
    if (thread_log* const log = mine()) log->job_begins(at(worker), job, pauses_);
  }
  void job_ends(unsigned /*worker*/) noexcept override {
    if (thread_log* const log = mine()) log->job_ends();
  }
  void task_begins(unsigned worker, const context& of) noexcept override {
    if (thread_log* const log = mine()) log->task_begins(at(worker), of);
  }
  void task_ends(unsigned /*worker*/) noexcept override {
    if (thread_log* const log = mine()) log->task_ends();
  }
  void job_stolen(unsigned thief, unsigned victim, const void* job) noexcept override {
    if (thread_log* const log = mine()) log->job_stolen(at(thief), victim, job);
  }
  void guest_arrives(unsigned worker) noexcept override {
    if (thread_log* const log = mine()) log->guest_arrives(at(worker));
  }
  void guest_leaves(unsigned /*worker*/) noexcept override {
    if (thread_log* const log = mine()) log->guest_leaves();
  }
  void worker_searches(unsigned /*worker*/) noexcept override {
    if (thread_log* const log = mine()) log->searches();
  }
  void worker_helps(unsigned /*worker*/) noexcept override {
    if (thread_log* const log = mine()) log->helps();
  }
  void worker_sleeps(unsigned worker) noexcept override {
    if (thread_log* const log = mine()) log->falls_asleep(at(worker));
  }
  void worker_wakes(unsigned /*worker*/) noexcept override {
    if (thread_log* const log = mine()) log->wakes();
  }

  const log_book::reference book_;
  const std::uint16_t lane_;
  const pauses_are pauses_;
};

}  // namespace

trace_recorder::trace_recorder(const trace_options& options)
    : book_(std::make_shared<log_book>(options)) {}

std::uint64_t trace_recorder::add(std::string name, std::vector<new_lane> lanes,
                                  std::function<std::string()> dump) {
  const std::lock_guard lock(mutex_);
  if (lanes_.size() + lanes.size() > trace::lanes_max) {
    throw std::length_error("weft: trace::add: a trace takes " + std::to_string(trace::lanes_max) +
                            " lanes, those that were removed included; make a new trace");
  }
  const std::uint64_t entry = next_entry_;
  const std::size_t watched_before = watched_.size();
  std::size_t observed = watched_before;
  try {
    for (new_lane& l : lanes) {
      // The workers of a pool tell when they have nothing to do; other lanes just wait.
      const bool is_pool = l.about.task_type == attribute::scheduler_task_type_values[0];
      auto by =
          std::make_shared<lane_observer>(book_->refer(), static_cast<std::uint16_t>(lanes_.size()),
                                          is_pool ? pauses_are::told : pauses_are::silent);
      lanes_.push_back(std::move(l.about));
      watched_.push_back({.entry = entry, .what = l.what, .by = std::move(by)});
      if (is_on_) watch(watched_.back());
      ++observed;
    }
    described_.push_back({.entry = entry, .name = std::move(name), .dump = std::move(dump)});
  } catch (...) {
    for (std::size_t i = watched_before; is_on_ && i < observed; ++i) {
      static_cast<void>(watched_[i].what->observe(nullptr));
    }
    watched_.resize(watched_before);  // the numbers of the lanes stay used: threads have seen them
    throw;
  }
  ++next_entry_;
  return entry;
}

void trace_recorder::watch(const watched& w) {
  if (w.what->observe(w.by)) return;
  throw std::logic_error(
      "weft: trace::start: somebody else observes one of its pools, by pool_options::observer or "
      "another trace; a pool has one observer at a time, so stop the other one first");
}

void trace_recorder::remove(std::uint64_t entry) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(described_, [&](const described& d) { return d.entry == entry; });
  std::erase_if(watched_, [&](const watched& w) {
    if (w.entry != entry) return false;
    if (is_on_) static_cast<void>(w.what->observe(nullptr));
    return true;
  });
}

void trace_recorder::start() {
  const std::lock_guard lock(mutex_);
  if (is_on_) return;
  book_->begin_anew();
  std::size_t count = 0;
  try {
    for (; count < watched_.size(); ++count) watch(watched_[count]);
    add_span_listener(book_);
  } catch (...) {
    for (std::size_t i = 0; i < count; ++i) {
      static_cast<void>(watched_[i].what->observe(nullptr));
    }
    throw;
  }
  is_on_ = true;
}

void trace_recorder::stop() noexcept {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(is_on_, false)) return;
  remove_span_listener(*book_);
  for (const watched& w : watched_) static_cast<void>(w.what->observe(nullptr));
}

trace_stats trace_recorder::stats() const {
  trace_stats s = book_->stats();
  const std::lock_guard lock(mutex_);
  s.on = is_on_;
  return s;
}

std::vector<traced_lane> trace_recorder::lanes() const {
  const std::lock_guard lock(mutex_);
  return lanes_;
}

// With the lock held: what is described cannot go meanwhile.
std::string trace_recorder::dump(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (const described& d : described_) {
    if (name.empty() || d.name == name) all += "\"" + d.name + "\":\n" + d.dump();
  }
  return all;
}

}  // namespace weft::telemetry
