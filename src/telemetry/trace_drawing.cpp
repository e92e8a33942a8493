#include "telemetry/trace_drawing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <weft/telemetry/schema.hpp>
#include <weft/telemetry/trace_writer.hpp>

namespace weft::telemetry {
namespace {

using steady = std::chrono::steady_clock;

// A slice of a track, in seconds since the beginning.
struct slice {
  enum class kind : std::uint8_t { work, guest, asleep, spawning };
  kind what = kind::work;
  std::uint32_t name = trace_event::no_name;
  double begin = 0;
  double end = 0;
  bool goes_on = false;
  std::uint64_t job = 0;                        // zero: none
  std::optional<double> waited = std::nullopt;  // from queued to begun
  std::uint64_t spawned = 0;                    // of spawning
  std::ptrdiff_t around = -1;                   // the slice of the track in which it lies
};

// Of spans of time that are sorted by their beginnings, and nest: the one that covers that moment,
// or the innermost of them.
template <class Span>
const Span* find_covering(const std::vector<Span>& all, double at) {
  const auto after = std::upper_bound(all.begin(), all.end(), at,
                                      [](double t, const Span& s) { return t < s.begin; });
  auto i = after - all.begin() - 1;
  while (i >= 0 && at >= all[static_cast<std::size_t>(i)].end) {
    i = all[static_cast<std::size_t>(i)].around;
  }
  return i >= 0 ? &all[static_cast<std::size_t>(i)] : nullptr;
}

// Sorts them, outer ones first, and says which lies in which. What is inside ends with what is
// around it: a track is used by one thread after another, each with a clock of its own, so that
// ends may overlap by a moment.
template <class Span>
void nest(std::vector<Span>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < all.size(); ++i) {
    while (!open.empty() && all[open.back()].end <= all[i].begin) open.pop_back();
    if (!open.empty()) {
      all[i].end = std::min(all[i].end, all[open.back()].end);
      all[i].around = static_cast<std::ptrdiff_t>(open.back());
    }
    open.push_back(i);
  }
}

// When a thread worked on a track.
struct stay {
  double begin = 0;
  double end = 0;
  trace_track where;
  std::ptrdiff_t around = -1;
};

struct queued_job {
  double at = 0;
  std::uint64_t job = 0;
  std::uint16_t lane = 0;
  std::size_t page = 0;
};

struct theft {
  double at = 0;
  std::uint64_t job = 0;
  trace_track thief;
  trace_track victim;
};

struct arrow {
  std::string_view name;
  trace_track from;
  double from_time = 0;
  trace_track to;
  double to_time = 0;
};

struct track_order {
  bool operator()(const trace_track& a, const trace_track& b) const noexcept {
    return std::pair(a.process, a.thread) < std::pair(b.process, b.thread);
  }
};

class drawing {
 public:
  explicit drawing(const trace_recording& r) : recording_(r) {}

  std::string make() {
    number_processes();
    find_beginning();
    collect();
    sort_slices();
    draw_spawning();
    connect();
    std::string text;
    write(text);
    return text;
  }

 private:
  static constexpr std::uint32_t outside = 1;  // the process of threads that are no workers

  void number_processes() {
    std::map<std::string, std::uint32_t> by_name;
    for (const traced_lane& l : recording_.lanes) {
      const auto next = static_cast<std::uint32_t>(by_name.size()) + outside + 1;
      const std::uint32_t process = by_name.try_emplace(l.scheduler, next).first->second;
      process_of_lane_.push_back(process);
      std::uint32_t& lanes = lanes_of_process_[process];
      lane_in_process_.push_back(lanes++);
    }
  }

  // Lanes of one scheduler lie below each other.
  [[nodiscard]] trace_track track_of(trace_place p) const {
    return {.process = process_of_lane_[p.lane],
            .thread = lane_in_process_[p.lane] * observer::workers_max + p.worker + 1};
  }

  [[nodiscard]] double seconds(std::uint64_t ticks) const {
    return std::chrono::duration<double>(recording_.time.at(ticks) - beginning_).count();
  }

  void find_beginning() {
    beginning_ = recording_.taken;
    const auto earlier = [&](std::uint64_t ticks) {
      beginning_ = std::min(beginning_, recording_.time.at(ticks));
    };
    for (const auto& page : recording_.pages) {
      for (const trace_event& e : page.events) {
        if (e.what != trace_event::kind::trace) earlier(e.first);
      }
      for (const auto& w : page.open) earlier(w.begin);
    }
  }

  void collect() {
    const double now = std::chrono::duration<double>(recording_.taken - beginning_).count();
    for (std::size_t i = 0; i < recording_.pages.size(); ++i) {
      const auto& page = recording_.pages[i];
      for (const trace_event& e : page.events) collect(e, i);
      for (const auto& w : page.open) {
        add_slice(i, track_of(w.place),
                  {.what = w.is_guest ? slice::kind::guest : slice::kind::work,
                   .name = w.name,
                   .begin = seconds(w.begin),
                   .end = now,
                   .goes_on = true,
                   .job = w.job});
      }
    }
  }

  void collect(const trace_event& e, std::size_t page) {
    switch (e.what) {
      case trace_event::kind::ran:
      case trace_event::kind::guest:
      case trace_event::kind::slept:
        add_slice(page, track_of(e.place),
                  {.what = e.what == trace_event::kind::ran     ? slice::kind::work
                           : e.what == trace_event::kind::guest ? slice::kind::guest
                                                                : slice::kind::asleep,
                   .name = e.name,
                   .begin = seconds(e.first),
                   .end = seconds(e.second),
                   .job = e.what == trace_event::kind::ran ? e.third : 0});
        break;
      case trace_event::kind::queued:
        queued_.push_back(
            {.at = seconds(e.first), .job = e.second, .lane = e.place.lane, .page = page});
        break;
      case trace_event::kind::withdrawn:
        withdraw(e.second, page);
        break;
      case trace_event::kind::stolen:
        thefts_.push_back({.at = seconds(e.first),
                           .job = e.second,
                           .thief = track_of(e.place),
                           .victim = track_of({.lane = e.place.lane,
                                               .worker = static_cast<std::uint16_t>(e.third)})});
        break;
      case trace_event::kind::trace:
        break;
    }
  }

  // As if it had not been queued. The thread has it in its hands from one event to the other, so
  // that the last one with this address is it.
  void withdraw(std::uint64_t job, std::size_t page) {
    for (auto q = queued_.rbegin(); q != queued_.rend() && q->page == page; ++q) {
      if (q->job != job) continue;
      queued_.erase(std::next(q).base());
      return;
    }
  }

  void add_slice(std::size_t page, trace_track where, const slice& s) {
    slices_[where].push_back(s);
    auto& spent = time_on_tracks_[page];
    if (s.what != slice::kind::asleep)
      spent.push_back({.begin = s.begin, .end = s.end, .where = where});
  }

  void sort_slices() {
    for (auto& [track, all] : slices_) nest(all);
    for (auto& [page, all] : time_on_tracks_) nest(all);
  }

  [[nodiscard]] bool is_covered(trace_track track, double at) const {
    const auto found = slices_.find(track);
    return found != slices_.end() && find_covering(found->second, at) != nullptr;
  }

  // The track on which the thread of that page worked then.
  [[nodiscard]] std::optional<trace_track> worked_on(std::size_t page, double at) const {
    const auto found = time_on_tracks_.find(page);
    if (found == time_on_tracks_.end()) return std::nullopt;
    const stay* const covering = find_covering(found->second, at);
    return covering != nullptr ? std::optional(covering->where) : std::nullopt;
  }

  // Threads that are no workers have slices, too, for arrows to begin at: one for each burst.
  void draw_spawning() {
    constexpr double pause = 100e-6;
    constexpr double last_one = 1e-6;
    std::stable_sort(queued_.begin(), queued_.end(),
                     [](const queued_job& a, const queued_job& b) { return a.at < b.at; });
    for (const queued_job& q : queued_) {
      if (worked_on(q.page, q.at)) continue;
      auto& all = slices_[outside_track(q.page)];
      if (!all.empty() && q.at < all.back().end + pause) {
        all.back().end = q.at + last_one;
        ++all.back().spawned;
      } else {
        all.push_back(
            {.what = slice::kind::spawning, .begin = q.at, .end = q.at + last_one, .spawned = 1});
      }
    }
  }

  [[nodiscard]] static trace_track outside_track(std::size_t page) {
    return {.process = outside, .thread = static_cast<std::uint32_t>(page) + 1};
  }

  struct begun {
    double at;
    trace_track where;
    slice* what;
  };

  // Who queued what ran, and who stole it. An address is used again, so it means the last job that
  // was queued under it.
  void connect() {
    std::vector<begun> all;
    for (auto& [track, slices] : slices_) {
      for (slice& s : slices) {
        if (s.job != 0) all.push_back({.at = s.begin, .where = track, .what = &s});
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const begun& a, const begun& b) { return a.at < b.at; });
    std::stable_sort(thefts_.begin(), thefts_.end(),
                     [](const theft& a, const theft& b) { return a.at < b.at; });
    std::unordered_map<std::uint64_t, const queued_job*> waiting;
    std::unordered_map<std::uint64_t, const theft*> stolen;
    auto q = queued_.begin();
    auto t = thefts_.begin();
    for (const begun& b : all) {
      for (; q != queued_.end() && q->at <= b.at; ++q) waiting[q->job] = &*q;
      for (; t != thefts_.end() && t->at <= b.at; ++t) stolen[t->job] = &*t;
      if (const auto found = waiting.find(b.what->job); found != waiting.end()) {
        connect(*found->second, b);
        waiting.erase(found);
      }
      if (const auto found = stolen.find(b.what->job); found != stolen.end()) {
        connect(*found->second, b);
        stolen.erase(found);
      }
    }
    // What waits still, or ran before somebody looked at it.
    for (; q != queued_.end(); ++q) waiting[q->job] = &*q;
    for (const auto& [job, left] : waiting) note_change(left->lane, left->at, +1, 0);
  }

  void connect(const queued_job& q, const begun& b) {
    b.what->waited = b.at - q.at;
    note_change(q.lane, q.at, +1, 0);
    note_change(q.lane, b.at, -1, 0);
    const trace_track from = worked_on(q.page, q.at).value_or(outside_track(q.page));
    if (is_covered(from, q.at)) {
      arrows_.push_back(
          {.name = "spawned", .from = from, .from_time = q.at, .to = b.where, .to_time = b.at});
    }
  }

  void connect(const theft& t, const begun& b) {
    if (b.where == t.thief && is_covered(t.victim, t.at)) {
      arrows_.push_back(
          {.name = "stolen", .from = t.victim, .from_time = t.at, .to = b.where, .to_time = b.at});
    }
  }

  void note_change(std::uint16_t lane, double at, int queued, int running) {
    changes_[lane].push_back({.at = at, .queued = queued, .running = running});
  }

  // -- writing ------------------------------------------------------------------------------------

  void write(std::string& text) {
    trace_writer out(text);
    name_tracks(out);
    for (const auto& [track, all] : slices_) {
      for (const slice& s : all) write(out, track, s);
    }
    for (const arrow& a : arrows_) {
      out.arrow(a.name, a.name, a.from, a.from_time, a.to, a.to_time);
    }
    count_running();
    for (auto& [lane, all] : changes_) write_counters(out, lane, all);
  }

  void name_tracks(trace_writer& out) {
    bool has_outside = false;
    for (const auto& [track, all] : slices_) has_outside |= track.process == outside;
    if (has_outside) out.name_process(outside, "other threads");
    std::uint32_t named = outside;
    for (std::size_t i = 0; i < recording_.lanes.size(); ++i) {
      if (process_of_lane_[i] <= named) continue;
      named = process_of_lane_[i];
      out.name_process(named, recording_.lanes[i].scheduler);
    }
    for (const auto& [track, all] : slices_) {
      out.name_track(track, name_of(track), track.thread);
    }
  }

  [[nodiscard]] std::string name_of(trace_track track) const {
    if (track.process == outside) return recording_.pages[track.thread - 1].thread;
    for (std::size_t i = 0; i < recording_.lanes.size(); ++i) {
      const trace_track first = track_of({.lane = static_cast<std::uint16_t>(i), .worker = 0});
      if (first.process != track.process || track.thread < first.thread ||
          track.thread - first.thread >= observer::workers_max) {
        continue;
      }
      const traced_lane& lane = recording_.lanes[i];
      const std::string number = std::to_string(track.thread - first.thread);
      if (lane.name.empty()) return "worker " + number;
      // An I/O lane is one thread, and has its number in the name.
      return lane.task_type == attribute::scheduler_task_type_values[1] ? lane.name
                                                                        : lane.name + " " + number;
    }
    return "unknown";
  }

  void write(trace_writer& out, trace_track track, const slice& s) const {
    std::vector<trace_argument> arguments;
    if (s.waited) arguments.push_back({"waited_us", *s.waited * 1e6});
    if (s.goes_on) arguments.push_back({"goes_on", true});
    std::string name;
    std::string_view category = "task";
    switch (s.what) {
      case slice::kind::work:
        name = s.name != trace_event::no_name && s.name <= recording_.names.size()
                   ? recording_.names[s.name - 1]
                   : "job";
        break;
      case slice::kind::guest:
        name = "pool::run";
        category = "guest";
        break;
      case slice::kind::asleep:
        name = "asleep";
        category = "idle";
        break;
      case slice::kind::spawning:
        name = s.spawned == 1 ? "spawns a job" : "spawns " + std::to_string(s.spawned) + " jobs";
        category = "spawn";
        break;
    }
    out.slice(track, name, category, s.begin, s.end - s.begin, arguments);
  }

  void count_running() {
    for (const auto& page : recording_.pages) {
      for (const trace_event& e : page.events) {
        if (e.what != trace_event::kind::ran) continue;
        note_change(e.place.lane, seconds(e.first), 0, +1);
        note_change(e.place.lane, seconds(e.second), 0, -1);
      }
      for (const auto& w : page.open) {
        if (!w.is_guest) note_change(w.place.lane, seconds(w.begin), 0, +1);
      }
    }
  }

  struct change {
    double at = 0;
    int queued = 0;
    int running = 0;
  };

  // Not more values than a screen can show: the highest of each moment, and what is left at its
  // end.
  void write_counters(trace_writer& out, std::uint16_t lane, std::vector<change>& all) const {
    constexpr double moments = 10'000;
    std::stable_sort(all.begin(), all.end(),
                     [](const change& a, const change& b) { return a.at < b.at; });
    const double step = all.empty() ? 0 : (all.back().at - all.front().at) / moments;
    const traced_lane& about = recording_.lanes[lane];
    const std::string name = about.name.empty() ? "tasks" : about.name + " tasks";
    std::int64_t queued = 0;
    std::int64_t running = 0;
    for (std::size_t i = 0; i < all.size();) {
      const double moment = all[i].at;
      std::int64_t most_queued = 0;
      std::int64_t most_running = 0;
      for (; i < all.size() && all[i].at <= moment + step; ++i) {
        queued += all[i].queued;
        running += all[i].running;
        most_queued = std::max(most_queued, queued);
        most_running = std::max(most_running, running);
      }
      const bool is_last = i == all.size();
      out.counter(process_of_lane_[lane], name, moment,
                  std::array{trace_argument{"queued", most_queued},
                             trace_argument{"running", most_running}});
      if (is_last) {
        out.counter(
            process_of_lane_[lane], name, all.back().at,
            std::array{trace_argument{"queued", queued}, trace_argument{"running", running}});
      }
    }
  }

  const trace_recording& recording_;
  steady::time_point beginning_;
  std::vector<std::uint32_t> process_of_lane_;
  std::vector<std::uint32_t> lane_in_process_;
  std::map<std::uint32_t, std::uint32_t> lanes_of_process_;
  std::map<trace_track, std::vector<slice>, track_order> slices_;
  std::map<std::size_t, std::vector<stay>> time_on_tracks_;  // by page
  std::vector<queued_job> queued_;
  std::vector<theft> thefts_;
  std::vector<arrow> arrows_;
  std::map<std::uint16_t, std::vector<change>> changes_;  // by lane
};

}  // namespace

std::string draw(const trace_recording& recording) { return drawing(recording).make(); }

}  // namespace weft::telemetry
