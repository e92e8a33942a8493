#include <cerrno>
#include <concepts>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <weft/batch/event_log.hpp>
#include <weft/batch/runner.hpp>

#include "batch/json_reason.hpp"

namespace weft::batch {
namespace {

using json = nlohmann::json;

struct wrong {
  std::string what;
};

// Puts events into a record, in the order in which they were written.
class replay {
 public:
  run_record record;
  int pid = 0;
  std::set<std::string> running;  // commands that have started and not ended

  void apply(const json& event) {
    const auto name = event.at("event").get<std::string>();
    if (name == "run") {
      begin(event);
    } else if (name == "batch") {
      batch_record& batch = record.batches.emplace_back();
      batch.id = event.at("id");
      batch.name = event.value("name", "");
      batch.after = event.value("after", std::vector<std::string>());
    } else if (name == "rule") {
      add_rule(event);
    } else if (name == "stage") {
      batch_record& batch = record.batches.at(whole<std::size_t>(event, "batch"));
      batch.workers = worker_count(event);
      batch.began = moment(event);
    } else if (name == "start") {
      moment(event);
      running.insert(rule_of(event).id);
    } else if (name == "again") {
      repeat(event);
    } else if (name == "end") {
      end(event);
    } else if (name == "skip") {
      rule_record& rule = rule_of(event);
      rule.status = rule_status::skipped;
      rule.skipped_for = event.at("cause");
      moment(event);
    } else if (name == "resume") {
      moment(event);
      record.workers = std::max(record.workers, worker_count(event));
      pid = whole_or(event, "pid", 0);
      if (event.contains("policy")) read_manner(event);  // older logs have none here
      ++record.resumed;
      record.ending = run_ending::none;
    } else if (name == "done") {
      moment(event);
      record.ending = ending_of(event.at("ending"));
      record.steal_attempts = event.value("steal_attempts", std::vector<std::uint64_t>());
    }
    // An event of a later version says nothing to this one.
  }

  // The plan was written out before the run was killed.
  [[nodiscard]] bool has_whole_plan() const { return record.rules.size() >= rule_count_; }

 private:
  void begin(const json& event) {
    if (whole<int>(event, "version") > 1) {
      throw wrong{"it is of version " + event.at("version").dump() +
                  ", and this program reads version 1; use a newer weft"};
    }
    record.id = event.at("id");
    record.plan = event.at("plan");
    record.plan_file = event.value("file", "");
    record.partial = event.value("partial", false);
    rule_count_ = whole_or(event, "rules", std::size_t{0});
    pid = whole_or(event, "pid", 0);
    record.started = seconds(event, "started");
    record.workers = worker_count(event);
    read_manner(event);
  }

  void read_manner(const json& event) {
    record.policy = policy_of(event.at("policy"));
    record.barriers = event.at("barriers");
    record.fixed = event.at("fixed");
  }

  void add_rule(const json& event) {
    rule_record& rule = record.rules.emplace_back();
    rule.id = event.at("id");
    rule.name = event.value("name", "");
    rule.batch = event.value("batch", "");
    rule.after = event.value("after", std::vector<std::string>());
    if (event.contains("weight")) rule.weight = whole(event, "weight", 1U);
    rule.fingerprint = event.at("fingerprint");
    rule.predicted = seconds(event, "predicted");
    rule.source = source_of(event.at("source"));
  }

  void repeat(const json& event) {
    rule_record& rule = rule_of(event);
    running.erase(rule.id);
    rule.earlier.push_back({.worker = worker(event, "worker"),
                            .start = seconds(event, "start"),
                            .duration = seconds(event, "duration")});
    rule.attempts = static_cast<unsigned>(rule.earlier.size());
    rule.message = event.value("message", "");
    reach(rule.earlier.back().start + rule.earlier.back().duration);
  }

  void end(const json& event) {
    rule_record& rule = rule_of(event);
    running.erase(rule.id);
    const auto status = rule_status_of(event.at("status").get<std::string>());
    if (!status) throw wrong{"there is no status " + event.at("status").dump()};
    rule.status = *status;
    rule.ready = seconds(event, "ready");
    if (event.contains("held")) rule.held = seconds(event, "held");
    rule.start = seconds(event, "start");
    rule.duration = seconds(event, "duration");
    rule.worker = worker(event, "worker");
    if (event.contains("stolen_from")) rule.stolen_from = worker(event, "stolen_from");
    rule.attempts = whole<unsigned>(event, "attempts");
    if (event.contains("exit_code"))
      rule.exit_code = whole(event, "exit_code", std::numeric_limits<int>::min());
    rule.signal = whole_or(event, "signal", 0);
    rule.peak_rss = whole_or(event, "peak_rss", std::uint64_t{0});
    if (event.contains("cpu")) rule.cpu = seconds(event, "cpu");
    rule.message = event.value("message", "");
    rule.findings = findings_of(event);
    rule.output = event.value("output", "");
    reach(rule.end());
  }

  static std::vector<finding> findings_of(const json& event) {
    std::vector<finding> found;
    if (!event.contains("findings")) return found;
    for (const json& each : event["findings"]) {
      found.push_back({.file = each.at("file"),
                       .line = whole_or(each, "line", std::size_t{0}),
                       .message = each.value("message", "")});
    }
    return found;
  }

  rule_record& rule_of(const json& event) {
    const auto index = whole<std::size_t>(event, "rule");
    if (index >= record.rules.size()) throw wrong{"there is no rule " + std::to_string(index)};
    return record.rules[index];
  }

  double moment(const json& event) {
    const double t = seconds(event, "t");
    reach(t);
    return t;
  }
  void reach(double t) { record.elapsed = std::max(record.elapsed, t); }

  // Sums of them stay numbers, so that reports need no care.
  static double seconds(const json& event, const char* key) {
    constexpr double longest = 1e10;  // three hundred years
    const auto value = event.at(key).get<double>();
    if (value >= 0 && value <= longest) return value;
    throw wrong{"\"" + std::string(key) + "\" is no time of a run: " + event.at(key).dump()};
  }

  // A conversion would make a whole number of anything.
  template <std::integral Number>
  static Number whole(const json& event, const char* key, Number least = 0,
                      Number most = std::numeric_limits<Number>::max()) {
    const json& value = event.at(key);
    const auto lies_between = [&](auto number) {
      return std::cmp_greater_equal(number, least) && std::cmp_less_equal(number, most);
    };
    const bool fits = value.is_number_unsigned()
                          ? lies_between(value.get<std::uint64_t>())
                          : value.is_number_integer() && lies_between(value.get<std::int64_t>());
    if (fits) return value.get<Number>();
    throw wrong{"\"" + std::string(key) + "\" is no number of a run: " + value.dump()};
  }
  template <std::integral Number>
  static Number whole_or(const json& event, const char* key, Number otherwise) {
    return event.contains(key) ? whole<Number>(event, key) : otherwise;
  }
  static unsigned worker_count(const json& event) {
    return whole(event, "workers", 1U, workers_max);
  }
  static unsigned worker(const json& event, const char* key) {
    return whole(event, key, 0U, workers_max - 1);
  }

  template <class Enum>
  static Enum one_of(const json& value, std::initializer_list<Enum> known) {
    const auto name = value.get<std::string>();
    for (const Enum each : known) {
      if (name_of(each) == name) return each;
    }
    throw wrong{"there is no \"" + name + "\""};
  }
  static run_policy policy_of(const json& value) {
    return one_of(value, {run_policy::critical_path, run_policy::stealing,
                          run_policy::largest_first, run_policy::fifo});
  }
  static run_ending ending_of(const json& value) {
    return one_of(value, {run_ending::none, run_ending::complete, run_ending::failed_fast,
                          run_ending::interrupted, run_ending::out_of_time});
  }
  static cost_source source_of(const json& value) {
    return one_of(
        value, {cost_source::profile, cost_source::hint, cost_source::similar, cost_source::guess});
  }

  std::size_t rule_count_ = 0;
};

}  // namespace

result<logged_run> read_run(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const int problem = errno;
    return fail(problem == EACCES ? error_kind::no_permission : error_kind::missing_input,
                "cannot read the event log \"" + path +
                    "\": " + std::strerror(problem));  // NOLINT(concurrency-mt-unsafe)
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return fail(error_kind::missing_input, "\"" + path + "\" is a directory; give a log in it");
  }
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  replay played;
  std::size_t number = 0;
  std::size_t begin = 0;
  // A last line without its end was being written when the run was killed.
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    ++number;
    try {
      played.apply(json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                               text.begin() + static_cast<std::ptrdiff_t>(end)));
    } catch (const wrong& problem) {
      return fail(error_kind::bad_data, path + ":" + std::to_string(number) + ": " + problem.what);
    } catch (const std::exception& problem) {
      return fail(error_kind::bad_data, path + ":" + std::to_string(number) +
                                            ": this is no event log: " + json_reason(problem) +
                                            "; give one that weft run has written");
    }
  }
  if (played.record.id.empty()) {
    return fail(error_kind::bad_data, path + ":1: this is no event log: it does not say which run");
  }
  const bool has_whole_plan = played.has_whole_plan();
  return logged_run{.record = std::move(played.record),
                    .complete_bytes = begin,
                    .has_whole_plan = has_whole_plan,
                    .pid = played.pid,
                    .running = {played.running.begin(), played.running.end()}};
}

}  // namespace weft::batch
