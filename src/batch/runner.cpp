#include <weft/batch/runner.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <weft/adapt/sensor/memory.hpp>
#include <weft/base/topology.hpp>
#include <weft/batch/event_log.hpp>
#include <weft/batch/graph.hpp>
#include <weft/batch/profile_store.hpp>
#include <weft/process/marked.hpp>

#include "batch/conductor.hpp"
#include "batch/input_class.hpp"
#include "batch/predictor.hpp"
#include "batch/report_of.hpp"
#include "batch/seconds.hpp"

namespace weft {
namespace {

using batch::node;

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

run_options checked(run_options options) {
  if (options.workers == 0) options.workers = default_workers();
  if (options.workers > workers_max) {
    throw std::invalid_argument("workers must be between 1 and " + std::to_string(workers_max));
  }
  if (options.timeout.count() < 0) throw std::invalid_argument("timeout must not be negative");
  if (options.tick.count() < 0) throw std::invalid_argument("tick must not be negative");
  if (!(options.load_max >= 0)) throw std::invalid_argument("load_max must not be negative");
  return options;
}

// What the record knows before anything has run.
run_record planned(const plan& what, const batch::graph& shape, const run_options& options,
                   const batch::predictor& expected) {
  run_record record;
  record.started = seconds_since_1970();
  record.id = batch::new_run_id(record.started);
  record.plan = what.name();
  record.plan_file = options.plan_file;
  record.partial = options.partial;
  record.workers = options.workers;
  record.policy = options.policy;
  record.barriers = options.barriers;
  record.fixed = options.fixed;
  for (std::size_t b = 0; b < shape.batch_count(); ++b) {
    batch_record made{.id = shape.batch_name(b)};
    if (b < what.batches().size()) {
      made.name = what.batches()[b].name;
      made.after = what.batches()[b].after;
    }
    record.batches.push_back(std::move(made));
  }
  for (node n = 0; n < what.rules().size(); ++n) {
    const rule& r = what.rules()[n];
    rule_record made{.id = r.id, .name = r.name, .batch = r.batch, .after = r.after};
    made.weight = r.weight;
    made.fingerprint = batch::fingerprint(r);
    made.predicted = batch::to_the_nanosecond(expected.seconds()[n]);
    made.source = expected.sources()[n];
    record.rules.push_back(std::move(made));
  }
  return record;
}

// The earlier part of a run, if the plan is still the one of that run.
batch::logged_run earlier_part(const std::string& path, const run_record& now) {
  auto read = batch::read_run(path);
  if (!read) throw run_error(read.error());
  if (!read->has_whole_plan) {
    throw run_error({error_kind::bad_data,
                     "cannot resume \"" + path +
                         "\": it ends within the plan; nothing had begun, so run it anew"});
  }
  run_record& before = read->record;
  const auto differs = [&](const std::string& what) {
    throw run_error({error_kind::bad_data, "cannot resume \"" + path + "\": " + what +
                                               " since; run the plan anew, without resuming"});
  };
  const auto same = [](const batch_record& a, const batch_record& b) {
    return a.id == b.id && a.after == b.after;
  };
  if (!std::ranges::equal(before.batches, now.batches, same)) {
    differs("the batches of the plan were changed");
  }
  if (before.rules.size() != now.rules.size()) differs("the plan has got or lost rules");
  for (std::size_t i = 0; i < now.rules.size(); ++i) {
    if (before.rules[i].id != now.rules[i].id) differs("the rules of the plan were reordered");
    if (before.rules[i].fingerprint != now.rules[i].fingerprint ||
        before.rules[i].after != now.rules[i].after ||
        before.rules[i].batch != now.rules[i].batch) {
      differs("the rule \"" + now.rules[i].id + "\" was changed");
    }
  }
  return std::move(*read);
}

std::uint64_t free_memory() {
  const auto reading = adapt::memory_sensor().read().worst();
  if (!reading) return 0;
  const std::uint64_t free = reading->limit - std::min(reading->used, reading->limit);
  return free / 10 * 9;
}

// What running rules take up, and the memory they may take up together.
std::vector<batch::demand> demands_of(const plan& what, const std::vector<std::string>& classes,
                                      const batch::profiles& known, run_options& options) {
  std::vector<batch::demand> demands;
  bool any_memory = false;
  for (node n = 0; n < what.rules().size(); ++n) {
    const rule& r = what.rules()[n];
    batch::demand made{.weight = r.weight, .memory = r.memory};
    const batch::profile* const seen = known.nearest(batch::profile_key_view{r.id, classes[n]});
    if (made.memory == 0 && seen != nullptr) made.memory = seen->peak_rss();
    any_memory |= made.memory > 0;
    demands.push_back(made);
  }
  if (any_memory && options.memory == 0) options.memory = free_memory();
  return demands;
}

void save(const plan& what, const run_options& options, const std::vector<std::string>& classes,
          const batch::conductor& ended, batch::loaded_profiles&& known,
          std::vector<std::string>& warnings) {
  batch::profiles seen;
  const double when = seconds_since_1970();
  for (const auto& sighting : ended.sightings()) {
    batch::profile& of =
        seen.at({.rule = what.rules()[sighting.rule].id, .input_class = classes[sighting.rule]});
    if (sighting.passed) {
      of.add({.when = when, .seconds = sighting.seconds, .peak_rss = sighting.peak_rss});
    } else if (sighting.timed_out) {
      ++of.timeouts;
    } else {
      ++of.failures;
    }
  }
  if (seen.empty()) return;
  const auto saved = options.learn_into.empty()
                         ? batch::add_to_profiles(options.profiles, seen, std::move(known))
                         : batch::add_to_profiles(options.learn_into, seen);
  if (saved) {
    warnings.insert(warnings.end(), saved->begin(), saved->end());
  } else {
    warnings.push_back("what was learned is not kept: " + saved.error().message);
  }
}

}  // namespace

unsigned default_workers() {
  if (const char* text = std::getenv("WEFT_WORKERS")) {  // NOLINT(concurrency-mt-unsafe)
    const auto parsed = base::parse_worker_count(text, workers_max);
    if (!parsed.count) throw std::invalid_argument(parsed.error);
    return *parsed.count;
  }
  return std::min(base::usable_cpus(), workers_max);
}

run_report run(const plan& what, const run_options& how) {
  run_options options = checked(how);
  const batch::graph shape(what);
  std::vector<std::string> warnings;
  batch::loaded_profiles known;
  if (!options.profiles.empty()) {
    auto loaded = batch::load_profiles(options.profiles);
    if (!loaded) throw run_error(loaded.error());
    known = std::move(*loaded);
    warnings = known.warnings;
  }
  std::vector<std::string> classes;
  classes.reserve(what.rules().size());
  for (const rule& r : what.rules()) classes.push_back(batch::input_class(r, what.directory()));
  batch::predictor expected(what, classes, &known.values);
  run_record record = planned(what, shape, options, expected);
  std::vector<batch::demand> demands = demands_of(what, classes, known.values, options);

  std::unique_ptr<batch::event_log> log;
  const auto opened = [&](result<std::unique_ptr<batch::event_log>> made) {
    if (!made) throw run_error(made.error());
    log = std::move(*made);
  };
  if (!options.resume.empty()) {
    batch::logged_run earlier = earlier_part(options.resume, record);
    opened(batch::event_log::reopen(options.resume, earlier.complete_bytes));
    record = std::move(earlier.record);
    // What a killed program has left running would run beside its own repetition.
    // Not what a rule that has ended left behind: that may be meant to stay.
    std::size_t killed = 0;
    for (const std::string& rule : earlier.running) {
      killed += process::kill_marked({std::string(batch::run_variable) + "=" + record.id,
                                      std::string(batch::rule_variable) + "=" + rule});
    }
    if (killed > 0) {
      warnings.push_back("killed " + std::to_string(killed) +
                         " processes that the interrupted run had left running");
    }
    record.workers = std::max(record.workers, options.workers);
    record.policy = options.policy;
    record.barriers = options.barriers;
    record.fixed = options.fixed;
    record.ending = run_ending::none;
    ++record.resumed;
    log->resumed(record.elapsed, record);
  } else if (!options.log_directory.empty()) {
    opened(batch::event_log::create(options.log_directory, record));
    batch::forget_old_runs(options.log_directory, options.logs_kept);
  }

  batch::conductor conductor(what, shape, options, std::move(record), std::move(expected),
                             std::move(demands), log.get());
  conductor.run();
  const bool can_learn =
      !options.learn_into.empty() || (!options.profiles.empty() && !known.read_only);
  if (options.learn && can_learn) {
    save(what, options, classes, conductor, std::move(known), warnings);
  }
  if (log != nullptr) {
    if (const auto problem = log->problem()) {
      warnings.push_back("the event log is not complete: " + *problem);
    }
  }
  run_report report = batch::make_report(conductor.take_record(), shape);
  report.warnings = std::move(warnings);
  return report;
}

}  // namespace weft
