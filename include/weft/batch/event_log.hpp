#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <weft/base/result.hpp>
#include <weft/batch/record.hpp>

namespace weft::batch {

// The event log of a run: `.weft/runs/<id>.jsonl`, one JSON object a line, only ever appended to.
// What a reader needs to know of the run is in it, also when the run was killed: the plan first,
// then what happened.
//
//   run     version, id, plan, file, partial, rules, started, pid, workers, policy, barriers, fixed
//   batch   id, name, after
//   rule    id, name, batch, after, weight, fingerprint, predicted, source
//   stage   t, batch, workers                            with barriers: a batch begins
//   start   t, rule, worker, attempt                     of a command
//   again   rule, worker, start, duration, message       an attempt that will be repeated
//   end     rule, status, ready, held, start, duration, worker, stolen_from, attempts, exit_code,
//           signal, peak_rss, cpu, message, findings (each: file, line, message), output
//   skip    t, rule, cause
//   resume  t, pid, workers, policy, barriers, fixed     the run goes on in another process
//   done    t, ending, steal_attempts
//
// `rule` is the place in the plan, counted from 0, and `t` seconds since the beginning, without the
// time between an interruption and its resumption.

// Writes it. A command's events are handed to the kernel at once, so that a killed run has them;
// those of rules inside this process with some delay, or a log line would cost more than the rule.
//
// Threads: any. Errors: a write that fails is remembered; the run does not end for it.
class event_log {
 public:
  // Makes the directory and the file; the id of the run becomes the name. Errors: cannot_create,
  // no_permission.
  [[nodiscard]] static result<std::unique_ptr<event_log>> create(const std::string& directory,
                                                                 const run_record& run);
  // Goes on with a log, after what is complete in it. Errors: try_again while its run still runs,
  // or when it has written more than `complete_bytes` since that was found out.
  [[nodiscard]] static result<std::unique_ptr<event_log>> reopen(const std::string& path,
                                                                 std::size_t complete_bytes);
  ~event_log();
  event_log(const event_log&) = delete;
  event_log& operator=(const event_log&) = delete;

  void stage(double t, std::size_t batch, unsigned workers);
  void started(double t, std::size_t rule, unsigned worker, unsigned attempt);
  void repeated(std::size_t rule, const attempt_record& attempt, const std::string& message);
  // Is written together with what follows, or by flush(), or a little later.
  void finished(std::size_t rule, const rule_record& record);
  void skipped(double t, std::size_t rule, const std::string& cause);
  void resumed(double t, const run_record& run);
  void done(double t, run_ending ending, const std::vector<std::uint64_t>& steal_attempts);

  // Hands everything to the kernel.
  void flush();
  [[nodiscard]] const std::string& path() const noexcept;
  [[nodiscard]] std::optional<std::string> problem() const;

 private:
  class file;
  explicit event_log(std::unique_ptr<file> opened);
  std::unique_ptr<file> file_;
};

// A log as far as it goes.
struct logged_run {
  run_record record;
  std::size_t complete_bytes = 0;         // without a last line that was cut off
  bool has_whole_plan = true;             // false: it ends within the plan, and nothing had begun
  int pid = 0;                            // the process that wrote it last
  std::vector<std::string> running = {};  // commands whose end it does not tell
};

// Errors: missing_input, no_permission; bad_data with the line.
[[nodiscard]] result<logged_run> read_run(const std::string& path);

// The logs in a directory, newest first. Only files that are named after a run count as one.
[[nodiscard]] std::vector<std::string> list_runs(const std::string& directory);

// Deletes all but the newest `kept` logs of runs that do not run any more.
void forget_old_runs(const std::string& directory, std::size_t kept);

// A name for a new run: sorts by time.
[[nodiscard]] std::string new_run_id(double seconds_since_1970);

}  // namespace weft::batch
