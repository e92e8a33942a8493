#include "telemetry/thread_log.hpp"

#include <new>

namespace weft::telemetry {

// One that begins with its job stands for it.
void thread_log::task_begins(trace_place here, const context& of) noexcept {
  const std::uint64_t about =
      trace_event::about(trace_event::kind::ran, here, number_of(of.name()));
  const std::uint64_t now = clock().now();
  started* const outer = top();
  started* mine = nullptr;
  const open_words around = outer != nullptr ? open_.top() : open_words{};
  if (outer != nullptr && outer->what == level::job && now - around[0] <= nearby) {
    outer->has_tasks = true;
    mine = push(level::task, about, around[0], around[1]);
  } else {
    mine = push(level::task, about, now, 0);
  }
  ended_in_ = 0;
  if (mine == nullptr) return;
  const bool is_recorded = of.is_sampled();
  mine->trace = is_recorded ? of.trace() : trace_id();
  mine->span = is_recorded ? of.span() : span_id();
}

void thread_log::task_ends() noexcept {
  const started* const mine = ending(level::task);
  if (mine == nullptr) return;
  const auto [begin, job, about] = open_.top();
  last_end_ = clock().now();
  ended_in_ = 0;
  open_.pop();
  if (mine->trace) {
    trace_event of_trace =
        trace_event::unpack({mine->trace.high, mine->trace.low, mine->span.value, about});
    of_trace.what = trace_event::kind::trace;
    record(of_trace);
  }
  ring_.push({begin, last_end_, job, about});
}

void thread_log::job_withdrawn(std::uint16_t lane, const void* job) noexcept {
  record({.what = trace_event::kind::withdrawn,
          .place = {.lane = lane},
          .first = clock().now(),
          .second = address(job)});
}

void thread_log::job_stolen(trace_place thief, unsigned victim, const void* job) noexcept {
  ended_in_ = 0;
  record({.what = trace_event::kind::stolen,
          .place = thief,
          .first = clock().now(),
          .second = address(job),
          .third = victim});
}

void thread_log::guest_arrives(trace_place here) noexcept {
  ended_in_ = 0;
  // One that left while nobody listened.
  if (const started* const before = top(); before != nullptr && before->what == level::guest) {
    open_.pop();
  }
  push(level::guest, trace_event::about(trace_event::kind::guest, here, trace_event::no_name),
       clock().now(), 0);
}

void thread_log::guest_leaves() noexcept {
  if (ending(level::guest) == nullptr) return;
  const auto [begin, job, about] = open_.top();
  ended_in_ = 0;
  open_.pop();
  ring_.push({begin, clock().now(), job, about});
}

void thread_log::falls_asleep(trace_place here) noexcept {
  ended_in_ = 0;
  asleep_at_ = here;
  asleep_since_ = clock().now();
}

void thread_log::wakes() noexcept {
  ended_in_ = 0;
  if (asleep_since_ == 0) return;
  record({.what = trace_event::kind::slept,
          .place = asleep_at_,
          .first = asleep_since_,
          .second = clock().now()});
  asleep_since_ = 0;
}

// Most tasks of a thread have the name of the one before.
std::uint32_t thread_log::number_of(std::string_view name) noexcept {
  if (name.empty()) return trace_event::no_name;
  if (name == last_name_) return last_number_;
  const std::uint32_t number = basics_->names.number_of(name);
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
  // A job for which a task stands.
  for (std::size_t i = 1; i < all.size();) {
    const bool is_same = all[i - 1].begin == all[i].begin && all[i - 1].job == all[i].job;
    if (is_same && all[i].job != 0) {
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    } else {
      ++i;
    }
  }
  return all;
}

}  // namespace weft::telemetry
