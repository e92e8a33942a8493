#include <weft/batch/timeline.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include "batch/idle_time.hpp"
#include "batch/seconds.hpp"

namespace weft::batch {
namespace {

// A worker begins or ends an attempt.
struct turn {
  double when = 0;
  unsigned worker = 0;
  int change = 0;
};

std::vector<turn> turns_of(const run_record& record) {
  std::vector<turn> turns;
  const auto during = [&](unsigned worker, double begin, double duration) {
    if (worker >= record.workers || duration <= 0) return;
    turns.push_back({begin, worker, 1});
    turns.push_back({begin + duration, worker, -1});
  };
  for (const rule_record& rule : record.rules) {
    for (const attempt_record& attempt : rule.earlier) {
      during(attempt.worker, attempt.start, attempt.duration);
    }
    if (has_run(rule.status)) during(rule.worker, rule.start, rule.duration);
  }
  std::ranges::sort(turns, {}, &turn::when);
  return turns;
}

// Gathers the spans of each worker; one that goes on with the same reason becomes longer.
class span_collector {
 public:
  explicit span_collector(unsigned workers) : of_(workers) {}

  void add(const idle_span& span) {
    std::vector<idle_span>& before = of_[span.worker];
    if (!before.empty() && before.back().end == span.begin && before.back().why == span.why) {
      before.back().end = span.end;
    } else {
      before.push_back(span);
    }
  }
  [[nodiscard]] std::vector<idle_span> all() const {
    std::vector<idle_span> joined;
    for (const auto& spans : of_) joined.insert(joined.end(), spans.begin(), spans.end());
    return joined;
  }

 private:
  std::vector<std::vector<idle_span>> of_;
};

}  // namespace

std::string_view name_of(idle_reason why) noexcept {
  switch (why) {
    case idle_reason::dependency:
      return "dependency";
    case idle_reason::tail:
      return "tail";
    case idle_reason::admission:
      return "admission";
    case idle_reason::overhead:
      return "overhead";
  }
  return "";
}

std::vector<idle_span> idle_spans(const run_record& record) {
  const std::vector<turn> turns = turns_of(record);
  const std::vector<situation> situations = situations_of(record, record.elapsed);
  std::vector<int> running(record.workers, 0);
  span_collector spans(record.workers);
  auto next_turn = turns.begin();
  for (std::size_t i = 0; i < situations.size(); ++i) {
    const double begin = situations[i].since;
    const double end = i + 1 < situations.size() ? situations[i + 1].since : record.elapsed;
    for (; next_turn != turns.end() && next_turn->when <= begin; ++next_turn) {
      running[next_turn->worker] += next_turn->change;
    }
    if (end <= begin) continue;
    const idle_workers idle = idle_workers_in(situations[i], record.workers);
    // Whoever is left over after these is kept by a rule that counts for several workers.
    std::pair<idle_reason, long> shares[] = {
        {idle_reason::overhead, std::lround(idle.overhead)},
        {idle_reason::admission, std::lround(idle.held)},
        {idle_reason::dependency, std::lround(idle.dependency)},
        {idle_reason::tail, std::lround(idle.tail)},
        {idle_reason::admission, std::lround(idle.beyond_limit)},
    };
    auto share = std::begin(shares);
    for (unsigned worker = 0; worker < record.workers; ++worker) {
      if (running[worker] > 0) continue;
      share = std::find_if(share, std::end(shares), [](const auto& s) { return s.second > 0; });
      if (share == std::end(shares)) break;
      --share->second;
      spans.add({.worker = worker, .begin = begin, .end = end, .why = share->first});
    }
  }
  return spans.all();
}

std::vector<load_level> load_levels(const run_record& record) {
  struct change {
    double when = 0;
    int ready = 0;
    int running = 0;
    std::uint64_t memory = 0;
  };
  std::vector<change> changes;
  // To the nanosecond, or a sum of times would let a rule run on beside the one that follows it.
  const auto during = [&](double from, double until, change what) {
    const double begin = to_the_nanosecond(from);
    const double end = to_the_nanosecond(until);
    if (end <= begin) return;
    what.when = begin;
    changes.push_back(what);
    // Of numbers without a sign, what is taken away comes round.
    changes.push_back({end, -what.ready, -what.running, std::uint64_t{0} - what.memory});
  };
  for (const rule_record& rule : record.rules) {
    const std::uint64_t memory = rule.peak_rss;
    for (const attempt_record& attempt : rule.earlier) {
      during(attempt.start, attempt.start + attempt.duration, {.running = 1, .memory = memory});
    }
    if (!has_run(rule.status)) continue;
    during(rule.ready, rule.start, {.ready = 1});
    during(rule.start, rule.end(), {.running = 1, .memory = memory});
  }
  std::ranges::sort(changes, {}, &change::when);
  std::vector<load_level> levels = {{}};
  for (const change& next : changes) {
    load_level level = levels.back();
    level.at = std::max(level.at, next.when);
    level.ready += static_cast<std::size_t>(next.ready);
    level.running += static_cast<std::size_t>(next.running);
    level.memory += next.memory;
    if (level.at > levels.back().at) {
      levels.push_back(level);
    } else {
      levels.back() = level;
    }
  }
  return levels;
}

}  // namespace weft::batch
