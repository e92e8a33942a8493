#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>

#include <weft/base/error.hpp>
#include <weft/batch/plan.hpp>
#include <weft/batch/record.hpp>
#include <weft/batch/report.hpp>
#include <weft/core/pool.hpp>

namespace weft {

// Something that has just happened in a run.
struct run_event {
  enum class kind : std::uint8_t {
    began,     // the plan is known, nothing has run
    stage,     // with barriers: the batch `index` begins
    started,   // the rule `index`
    repeated,  // an attempt of the rule failed; there will be another
    finished,
    skipped,
    ending,  // nothing more begins; the record says why
    tick,    // nothing; some time has passed
  };
  kind what = kind::tick;
  std::size_t index = 0;
  unsigned worker = 0;   // started, repeated, finished: who runs it, or ran it
  double now = 0;        // seconds since the beginning
  double remaining = 0;  // tick: seconds that the rest will probably take
  const run_record& record;
};

// As many rules may run at once.
inline constexpr unsigned workers_max = pool::workers_limit;

// The workers of a run that does not say how many: WEFT_WORKERS, or as many as this process has
// CPUs. Errors: std::invalid_argument when the variable has no such number.
[[nodiscard]] unsigned default_workers();

struct run_options {
  // Rules that run at once. 0: default_workers().
  unsigned workers = 0;
  run_policy policy = run_policy::critical_path;
  bool barriers = false;   // one batch after another
  bool fixed = false;      // with barriers: all workers for every batch, instead of by its size
  bool fail_fast = false;  // begin nothing after a failure

  // Where costs are learned; empty: nowhere. Read before the run and added to after it.
  std::string profiles = {};
  bool learn = true;  // false: read only
  // Where what is learned is added instead, as on machines that run parts of a plan and must all
  // see the same costs; empty: to `profiles`.
  std::string learn_into = {};

  // Begin nothing while so many threads of the machine want a CPU; 0: no matter.
  double load_max = 0;
  // What running rules may need together, by their declaration or profile. 0: nine tenths of what
  // is free when the run begins.
  std::uint64_t memory = 0;
  std::chrono::nanoseconds timeout{0};  // of the whole run; 0: none

  // Where the event log is written; empty: nowhere. See <weft/batch/event_log.hpp>.
  std::string log_directory = {};
  std::size_t logs_kept = 20;
  std::string plan_file = {};  // for the log
  bool partial = false;        // for the log: the plan is a part of that file
  // A log to go on with, of the same plan: what has ended in it does not run again.
  std::string resume = {};

  // Ends the run early: `finish` lets what runs end, `stop` kills it.
  std::stop_token finish = {};
  std::stop_token stop = {};

  // Is told what happens, by one thread at a time. Must be quick and must not throw; may ask for
  // the end through the sources of `finish` and `stop`.
  std::function<void(const run_event&)> on_event = nullptr;
  // How often it is told that time passes; 0: never.
  std::chrono::nanoseconds tick{0};

  // Where the functions of rules run; null: on a pool of its own.
  pool* on = nullptr;
};

// Is thrown when a run cannot begin because of a file: a log that cannot be made or resumed, a
// profile that must not be touched.
class run_error : public std::runtime_error {
 public:
  explicit run_error(const error& why) : std::runtime_error(why.message), kind_(why.kind) {}
  [[nodiscard]] error_kind kind() const noexcept { return kind_; }

 private:
  error_kind kind_;
};

// Runs the rules of a plan, each as soon as what it comes after has passed, on as many workers as
// allowed. Commands are child processes; functions and checks run in threads of this process, and
// what they fork uses workers that are idle.
//
// Blocks: until every rule is dealt with. Errors: plan_error for the plan; std::invalid_argument
// for options; std::system_error if threads cannot be made; run_error. A rule that fails is no
// error of the run: the report says so.
run_report run(const plan& what, const run_options& how = {});

}  // namespace weft
