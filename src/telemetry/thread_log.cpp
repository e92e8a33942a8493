#include "telemetry/thread_log.hpp"

#include <new>

#include "telemetry/trace_names.hpp"

namespace weft::telemetry {
namespace {

std::uint64_t address(const void* job) noexcept { return reinterpret_cast<std::uint64_t>(job); }

}  // namespace

void thread_log::job_queued(std::uint16_t lane, const void* job) noexcept {
  record({.what = trace_event::kind::queued,
          .place = {.lane = lane, .worker = 0},
          .first = clock_.now(),
          .second = address(job)});
}

// A worker that goes from one job to the next does so at once: one reading of the clock is enough.
void thread_log::job_begins(trace_place here, const void* job) noexcept {
  const std::uint64_t now = has_just_ended_ ? last_end_ : clock_.now();
  has_just_ended_ = false;
  push({.what = level::job, .place = here, .begin = now, .job = address(job)});
}

void thread_log::job_ends() noexcept {
  const started* const mine = ending(level::job);
  if (mine == nullptr) return;
  last_end_ = mine->has_tasks && has_just_ended_ ? last_end_ : clock_.now();
  pop(last_end_);
  has_just_ended_ = true;
}

// The first one in a job stands for it.
void thread_log::task_begins(trace_place here, const context& of) noexcept {
  started next{.what = level::task, .place = here, .name = number_of(of.name())};
  if (of.is_sampled()) {
    next.trace = of.trace();
    next.span = of.span();
  }
  started* const outer = top();
  if (outer != nullptr && outer->what == level::job && !outer->has_tasks) {
    outer->has_tasks = true;
    next.begin = outer->begin;
    next.job = outer->job;
  } else {
    next.begin = has_just_ended_ ? last_end_ : clock_.now();
  }
  has_just_ended_ = false;
  push(next);
}

void thread_log::task_ends() noexcept {
  if (ending(level::task) == nullptr) return;
  last_end_ = clock_.now();
  pop(last_end_);
  has_just_ended_ = true;
}

void thread_log::job_stolen(trace_place thief, unsigned victim, const void* job) noexcept {
  has_just_ended_ = false;
  record({.what = trace_event::kind::stolen,
          .place = thief,
          .first = clock_.now(),
          .second = address(job),
          .third = victim});
}

void thread_log::guest_arrives(trace_place here) noexcept {
  has_just_ended_ = false;
  // One that left while nobody listened.
  if (const started* const before = top(); before != nullptr && before->what == level::guest) {
    open_.pop();
  }
  push({.what = level::guest, .place = here, .begin = clock_.now()});
}

void thread_log::guest_leaves() noexcept {
  if (ending(level::guest) == nullptr) return;
  has_just_ended_ = false;
  pop(clock_.now());
}

void thread_log::falls_asleep(trace_place here) noexcept {
  has_just_ended_ = false;
  asleep_at_ = here;
  asleep_since_ = clock_.now();
}

void thread_log::wakes() noexcept {
  if (asleep_since_ == 0) return;
  record({.what = trace_event::kind::slept,
          .place = asleep_at_,
          .first = asleep_since_,
          .second = clock_.now()});
  asleep_since_ = 0;
}

thread_log::started* thread_log::top() noexcept {
  return open_.size() > 0 && unrecorded_ == 0 ? &stack_[open_.size() - 1] : nullptr;
}

// Null when its beginning was not recorded.
const thread_log::started* thread_log::ending(level what) noexcept {
  if (unrecorded_ > 0) {
    --unrecorded_;
    return nullptr;
  }
  const started* const mine = top();
  return mine != nullptr && mine->what == what ? mine : nullptr;
}

void thread_log::push(const started& s) noexcept {
  if (open_.is_full()) {
    ++unrecorded_;
    return;
  }
  stack_[open_.size()] = s;
  const trace_event shown{
      .what = s.what == level::guest ? trace_event::kind::guest : trace_event::kind::ran,
      .place = s.place,
      .name = s.name};
  open_.push({s.begin, s.job, shown.pack()[3]});
}

void thread_log::pop(std::uint64_t end) noexcept {
  open_.pop();
  const started& s = stack_[open_.size()];
  if (s.has_tasks) return;
  record({.what = s.what == level::guest ? trace_event::kind::guest : trace_event::kind::ran,
          .place = s.place,
          .name = s.name,
          .first = s.begin,
          .second = end,
          .third = s.job});
  if (!s.trace) return;
  record({.what = trace_event::kind::trace,
          .place = s.place,
          .name = s.name,
          .first = s.trace.high,
          .second = s.trace.low,
          .third = s.span.value});
}

// Most tasks of a thread have the name of the one before.
std::uint32_t thread_log::number_of(std::string_view name) noexcept {
  if (name.empty()) return trace_event::no_name;
  if (name == last_name_) return last_number_;
  const std::uint32_t number = names_.number_of(name);
  try {
    last_name_ = name;
    last_number_ = number;
  } catch (const std::bad_alloc&) {
    last_name_.clear();
  }
  return number;
}

std::vector<thread_log::open_work> thread_log::open() const {
  std::vector<open_work> all;
  for (const open_words& words : open_.read()) {
    const auto what = trace_event::unpack({0, 0, 0, words[2]});
    all.push_back({.place = what.place,
                   .name = what.name,
                   .is_guest = what.what == trace_event::kind::guest,
                   .begin = words[0],
                   .job = words[1]});
  }
  return all;
}

}  // namespace weft::telemetry
