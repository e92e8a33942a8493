#include "batch/conductor.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "batch/seconds.hpp"

namespace weft::batch {
namespace {

constexpr double log_delay_max = 0.05;           // seconds that an event may wait in memory
constexpr double load_interval = 0.25;           // seconds between two looks at the load
constexpr std::size_t passed_output_max = 4096;  // a rule that passed is rarely asked about
// Each looks at every rule. Where no two rules are alike, every one that ends changes something.
constexpr std::size_t expectations_max = 128;
// Estimates of the end take at most one part in so many of the time.
constexpr double estimates_share = 50;

// Threads that run or want to, of the whole machine: the load average of the last moment.
std::optional<double> runnable_threads() {
  const std::string text = base::read_line("/proc/loadavg");
  const auto fields = base::words(text);
  if (fields.size() < 4) return std::nullopt;
  return base::parse_decimal(base::split(fields[3], '/')[0]);
}

}  // namespace

conductor::conductor(const plan& what, const graph& shape, const run_options& options,
                     run_record record, predictor expected, std::vector<demand> demands,
                     event_log* log)
    : plan_(what),
      graph_(shape),
      options_(options),
      log_(log),
      offset_(record.elapsed),
      record_(std::move(record)),
      predictor_(std::move(expected)),
      dispatcher_(shape, predictor_.seconds(), std::move(demands),
                  {.workers = options.workers,
                   .policy = options.policy,
                   .barriers = options.barriers,
                   .fixed = options.fixed,
                   .memory = options.memory}),
      idle_(options.workers),
      lanes_(options.workers) {
  // An earlier part of the run may have had more workers.
  record_.steal_attempts.resize(
      std::max<std::size_t>(record_.steal_attempts.size(), options.workers));
  bool has_commands = false;
  for (const rule& r : what.rules()) (is_command(r) ? has_commands : has_local_rules_) = true;
  if (has_local_rules_) {
    if (options.on == nullptr) {
      own_pool_ = std::make_unique<pool>(pool_options{.workers = options.workers, .name = "rule"});
    }
    pool_ = options.on == nullptr ? own_pool_.get() : options.on;
  }
  if (has_commands) supervisor_ = std::make_unique<process::supervisor>();
}

conductor::~conductor() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    dispatcher_.stop();  // after an exception something may still run; nothing follows it
    for (lane& each : lanes_) each.wake.notify_one();
  }
  for (lane& each : lanes_) {
    if (each.thread.joinable()) each.thread.join();
  }
}

void conductor::run() {
  begin_ = clock::now();  // making threads is no part of the run
  // Without the lock, for on_event is told with it and may ask for the end.
  const std::stop_callback on_finish(options_.finish, [this] { changed_.ring(); });
  const std::stop_callback on_stop(options_.stop, [this] { changed_.ring(); });
  std::vector<unsigned> launches;
  std::unique_lock lock(mutex_);
  tell(run_event::kind::began, 0);
  if (has_local_rules_) {
    for (unsigned index = 0; index < lanes_.size(); ++index) {
      lanes_[index].thread = std::jthread([this, index] { lane_thread(index); });
    }
  }
  for (node r = 0; r < graph_.rule_count(); ++r) {
    const rule_status status = record_.rules[r].status;
    if (has_run(status)) dispatcher_.already_finished(r, lets_others_run(status));
  }
  dispatcher_.begin(now());
  note_skipped();
  note_stage();
  look_at_clock(launches);
  lock.unlock();
  launch(launches);
  lock.lock();
  keep_time(lock);
  record_.elapsed = now();
  if (record_.ending == run_ending::none) record_.ending = run_ending::complete;
  if (log_ != nullptr) log_->done(record_.elapsed, record_.ending, record_.steal_attempts);
}

double conductor::at(clock::time_point moment) const {
  return to_the_nanosecond(offset_ + seconds_of(moment - begin_));
}

double conductor::now() const { return at(clock::now()); }

// Gives an idle lane its next rule. True if that is one for the lane's own thread to run; a command
// goes to `launches`, for the caller to start when it has let the lock go.
bool conductor::assign(unsigned index, std::vector<unsigned>& launches) {
  if (options_.finish.stop_requested()) begin_ending(run_ending::interrupted);
  lane& to = lanes_[index];
  const double time = now();
  const auto given = dispatcher_.next(index, time);
  if (!given) {
    if (options_.policy == run_policy::stealing) ++record_.steal_attempts[index];
    return false;
  }
  if (given->stolen_from) ++record_.steal_attempts[index];
  to.busy = true;
  --idle_;
  to.given = *given;
  to.started = time;
  ++to.turn;
  to.child = 0;
  to.late = false;
  to.deadline.reset();
  const rule& r = plan_.rules()[given->rule];
  tell(run_event::kind::started, given->rule, index);
  if (is_command(r)) {
    launches.push_back(index);
    return false;
  }
  if (to.stop.stop_requested()) to.stop = std::stop_source();
  if (r.timeout.count() > 0) {
    to.deadline = time + seconds_of(r.timeout);
    changed_.ring();
  }
  return true;
}

void conductor::offer_to_idle(std::vector<unsigned>& launches) {
  for (unsigned index = 0; index < lanes_.size() && idle_ > 0; ++index) {
    if (lanes_[index].busy) continue;
    if (dispatcher_.ready_count() == 0) return;
    if (assign(index, launches)) call(index);
    if (!lanes_[index].busy) return;  // there is nothing for this one, nor for the others
  }
}

void conductor::call(unsigned index) {
  lanes_[index].called = true;
  lanes_[index].wake.notify_one();
}

void conductor::lane_thread(unsigned index) {
  lane& own = lanes_[index];
  std::unique_lock lock(mutex_);
  for (;;) {
    own.wake.wait(lock, [&] { return own.called || closing_; });
    if (!own.called) return;
    own.called = false;
    lock.unlock();
    bool entered = false;
    try {
      pool_->run([&] {
        entered = true;
        work_here(index);
      });
    } catch (...) {
      if (entered) throw;
      work_here(index);  // the pool of the user was shut down; the rule can do without
    }
    lock.lock();
  }
}

// Runs the lane's rule, and then one after the other as long as they are for this thread.
void conductor::work_here(unsigned index) {
  lane& own = lanes_[index];
  std::vector<unsigned> launches;
  for (bool more = true; more;) {
    const node n = own.given.rule;
    attempt made = perform_here(plan_.rules()[n], plan_.directory(), record_.rules[n].attempts + 1,
                                own.stop.get_token());
    {
      const std::lock_guard lock(mutex_);
      made.start = own.started;
      made.duration = to_the_nanosecond(now() - own.started);
      made.timed_out = own.late;
      made.stopped = killing_ && !own.late && !made.passed;  // it was cut off: no result
      if (own.late) {
        made.passed = false;
        made.message = "timed out" + (made.message.empty() ? "" : ": " + made.message);
      }
      conclude(index, std::move(made));
      more = assign(index, launches);
      offer_to_idle(launches);
    }
    launch(launches);
    launches.clear();
  }
}

void conductor::launch(const std::vector<unsigned>& lanes) {
  for (const unsigned index : lanes) launch(index);
}

void conductor::launch(unsigned index) {
  lane& own = lanes_[index];  // busy, so nobody else touches its assignment
  const node n = own.given.rule;
  const rule& r = plan_.rules()[n];
  const std::uint64_t turn = own.turn;
  if (log_ != nullptr) log_->started(now(), n, index, record_.rules[n].attempts + 1);
  process::limits allowed;
  allowed.timeout = r.timeout;
  process::command what = command_of(r, plan_.directory());
  what.env.emplace_back(rule_variable, r.id);
  what.env.emplace_back(run_variable, record_.id);
  const process::child_id child = supervisor_->start(
      what, allowed,
      [this, index](process::outcome ended) { command_ended(index, std::move(ended)); });
  const std::lock_guard lock(mutex_);
  if (own.turn != turn || !own.busy) return;  // it has ended already
  own.child = child;
  if (killing_) supervisor_->stop(child, *killing_);
}

void conductor::command_ended(unsigned index, process::outcome&& ended) {
  std::vector<unsigned> launches;
  {
    const std::lock_guard lock(mutex_);
    lane& own = lanes_[index];
    const auto began = ended.how == process::ending::not_started ? clock::now() : ended.started;
    attempt made = attempt_of(std::move(ended), plan_.rules()[own.given.rule]);
    made.start = at(began);
    conclude(index, std::move(made));
    if (assign(index, launches)) call(index);
    offer_to_idle(launches);
  }
  launch(launches);
  if (log_ != nullptr) log_->flush();  // the end of the command, if no start took it along
}

// A lane's rule has ended, for good or until it is tried again.
void conductor::conclude(unsigned index, attempt&& made) {
  lane& ended = lanes_[index];
  ended.busy = false;
  ++idle_;
  const node n = ended.given.rule;
  rule_record& rule = record_.rules[n];
  rule.worker = index;
  ++rule.attempts;
  if (made.stopped) {
    --rule.attempts;
    dispatcher_.postpone(n);
  } else if (!made.passed && rule.attempts <= plan_.rules()[n].retries) {
    // Also when the run is ending: a resumed one has the attempts that are left.
    repeat(ended, rule, std::move(made));
  } else {
    finish(ended, rule, std::move(made));
  }
  if (dispatcher_.done()) changed_.ring();
}

void conductor::repeat(lane& ended, rule_record& rule, attempt&& made) {
  const node n = ended.given.rule;
  rule.earlier.push_back({.worker = rule.worker, .start = made.start, .duration = made.duration});
  rule.message = std::move(made.message);
  if (log_ != nullptr) log_->repeated(n, rule.earlier.back(), rule.message);
  constexpr double longest_delay = 3600;  // doubled often enough, any delay would be for ever
  const double delay = std::min(
      longest_delay, seconds_of(plan_.rules()[n].retry_delay) * std::pow(2, rule.attempts - 1));
  dispatcher_.postpone(n);
  retries_.push_back({.when = now() + delay, .rule = n});
  tell(run_event::kind::repeated, n, rule.worker);
  changed_.ring();
}

void conductor::finish(lane& ended, rule_record& rule, attempt&& made) {
  const node n = ended.given.rule;
  const weft::rule& planned = plan_.rules()[n];
  if (made.passed) {
    rule.status = rule.attempts > 1 ? rule_status::flaky : rule_status::passed;
    if (made.output.size() > passed_output_max) made.output.resize(passed_output_max);
  } else if (planned.severity == severity::warn) {
    rule.status = rule_status::warned;
  } else {
    rule.status = made.timed_out ? rule_status::timed_out : rule_status::failed;
  }
  rule.ready = ended.given.ready;
  rule.held = ended.given.held;
  rule.start = made.start;
  rule.duration = made.duration;
  rule.stolen_from = ended.given.stolen_from;
  rule.exit_code = made.exit_code;
  rule.signal = made.signal;
  rule.peak_rss = made.peak_rss;
  rule.cpu = made.cpu;
  // A flaky rule says why its earlier attempt failed.
  if (rule.status != rule_status::flaky) rule.message = std::move(made.message);
  rule.findings = std::move(made.findings);
  rule.output = std::move(made.output);
  learn(n, made, rule.status);
  if (log_ != nullptr) log_->finished(n, rule);
  dispatcher_.finished(n, lets_others_run(rule.status), now());
  tell(run_event::kind::finished, n, rule.worker);
  note_skipped();
  note_stage();
  if (is_failure(rule.status) && options_.fail_fast) begin_ending(run_ending::failed_fast);
}

void conductor::note_skipped() {
  for (const auto& [n, cause] : dispatcher_.take_skipped()) {
    rule_record& rule = record_.rules[n];
    if (rule.status == rule_status::skipped) continue;  // an earlier part of the run knew
    rule.status = rule_status::skipped;
    rule.skipped_for = record_.rules[cause].id;
    if (log_ != nullptr) log_->skipped(now(), n, rule.skipped_for);
    tell(run_event::kind::skipped, n);
  }
}

void conductor::note_stage() {
  const auto current = dispatcher_.current_batch();
  if (current == batch_ || !current) return;
  batch_ = current;
  batch_record& batch = record_.batches[*current];
  batch.workers = dispatcher_.worker_limit();
  batch.began = now();
  if (log_ != nullptr) log_->stage(batch.began, *current, *batch.workers);
  tell(run_event::kind::stage, *current);
}

void conductor::learn(node rule, const attempt& made, rule_status status) {
  sightings_.push_back({.rule = rule,
                        .seconds = made.duration,
                        .peak_rss = made.peak_rss,
                        .passed = lets_others_run(status) && made.passed,
                        .timed_out = made.timed_out});
  if (made.passed) expects_others_ |= predictor_.learn(rule, made.duration);
  if (!expects_others_ || sightings_.size() < next_expectation_) return;
  expects_others_ = false;
  next_expectation_ = sightings_.size() + graph_.rule_count() / expectations_max;
  dispatcher_.expect(predictor_.seconds());
}

void conductor::tell(run_event::kind what, std::size_t index, unsigned worker) {
  if (!options_.on_event) return;
  const double time = now();
  options_.on_event({.what = what,
                     .index = index,
                     .worker = worker,
                     .now = time,
                     .remaining = std::max(0.0, expected_end_ - time),
                     .record = record_});
}

void conductor::begin_ending(run_ending why) {
  if (record_.ending != run_ending::none) return;
  record_.ending = why;
  dispatcher_.stop();
  tell(run_event::kind::ending, 0);
  changed_.ring();
}

void conductor::kill_running(process::stop_mode mode) {
  killing_ = mode;
  for (lane& each : lanes_) {
    if (!each.busy) continue;
    if (each.child != 0) {
      supervisor_->stop(each.child, mode);
    } else {
      each.stop.request_stop();
    }
  }
}

// The caller's thread, until the run is over.
void conductor::keep_time(std::unique_lock<std::mutex>& lock) {
  std::vector<unsigned> launches;
  while (!dispatcher_.done()) {
    look_at_clock(launches);
    if (!launches.empty()) {
      lock.unlock();
      launch(launches);
      launches.clear();
      lock.lock();
      continue;
    }
    if (dispatcher_.done()) break;
    if (options_.tick.count() > 0 && now() >= next_estimate_) {
      estimate_end(lock);
      continue;
    }
    std::optional<double> wait = next_moment();
    if (wait) wait = std::clamp(*wait - now(), 0.0, 3600.0);
    lock.unlock();
    changed_.wait(wait);
    lock.lock();
  }
}

// When something is due next; nothing if only the end of a rule can change anything.
std::optional<double> conductor::next_moment() const {
  std::optional<double> next;
  const auto consider = [&](double moment) { next = std::min(next.value_or(moment), moment); };
  for (const retry& each : retries_) consider(each.when);
  for (const lane& each : lanes_) {
    if (each.busy && each.deadline && !each.late) consider(*each.deadline);
  }
  if (options_.tick.count() > 0) consider(next_tick_);
  if (options_.timeout.count() > 0 && !killing_) {
    consider(offset_ + seconds_of(options_.timeout));
  }
  if (options_.load_max > 0) consider(next_load_look_);
  if (log_ != nullptr && has_local_rules_) consider(now() + log_delay_max);
  return next;
}

void conductor::look_at_clock(std::vector<unsigned>& launches) {
  const double time = now();
  if (options_.stop.stop_requested() && killing_ != process::stop_mode::now) {
    begin_ending(run_ending::interrupted);
    kill_running(process::stop_mode::now);
  } else if (options_.finish.stop_requested()) {
    begin_ending(run_ending::interrupted);
  }
  const bool too_long =
      options_.timeout.count() > 0 && time >= offset_ + seconds_of(options_.timeout);
  if (too_long && !killing_) {
    begin_ending(run_ending::out_of_time);
    kill_running(process::stop_mode::gently);
  }
  for (lane& each : lanes_) {
    if (!each.busy || !each.deadline || each.late || time < *each.deadline) continue;
    each.late = true;
    each.stop.request_stop();
  }
  if (options_.load_max > 0 && time >= next_load_look_) {
    next_load_look_ = time + load_interval;
    const auto runnable = runnable_threads();
    dispatcher_.hold(runnable && *runnable > options_.load_max);
  }
  std::erase_if(retries_, [&](const retry& each) {
    if (time < each.when) return false;
    dispatcher_.ready_again(each.rule, time);
    return true;
  });
  offer_to_idle(launches);
  // Before the first estimate there is nothing to say.
  if (options_.tick.count() > 0 && time >= next_tick_ && next_estimate_ > 0) {
    next_tick_ = time + seconds_of(options_.tick);
    tell(run_event::kind::tick, 0);
  }
  if (log_ != nullptr && has_local_rules_) log_->flush();
}

progress conductor::so_far() const {
  progress made;
  for (node r = 0; r < graph_.rule_count(); ++r) {
    const rule_status status = record_.rules[r].status;
    if (has_run(status) || status == rule_status::skipped) made.finished.push_back(r);
  }
  for (unsigned index = 0; index < lanes_.size(); ++index) {
    const lane& each = lanes_[index];
    if (!each.busy) continue;
    const double left = predictor_.seconds()[each.given.rule] - (now() - each.started);
    made.running.push_back({each.given.rule, index, std::max(0.0, left)});
  }
  for (const retry& each : retries_) {
    made.postponed.push_back({each.rule, std::max(0.0, each.when - now())});
  }
  if (options_.barriers) made.worker_limit = dispatcher_.worker_limit();
  return made;
}

// Simulates the rest of the run, without the lock: that may take longer than a rule does.
void conductor::estimate_end(std::unique_lock<std::mutex>& lock) {
  const progress state = so_far();
  const double begin = now();
  double left = 0;
  if (record_.ending != run_ending::none) {
    for (const progress::running_rule& each : state.running) left = std::max(left, each.left);
  } else {
    const costs expected = predictor_.seconds();
    const std::vector<demand> demands = dispatcher_.demands();
    lock.unlock();
    left = simulate(graph_, expected, expected, demands, dispatcher_.options(), state).makespan;
    lock.lock();
  }
  expected_end_ = begin + left;
  next_estimate_ = now() + std::max(1.0, estimates_share * (now() - begin));
}

}  // namespace weft::batch
