#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/batch/dispatcher.hpp>
#include <weft/batch/event_log.hpp>
#include <weft/batch/graph.hpp>
#include <weft/batch/profile.hpp>
#include <weft/batch/runner.hpp>
#include <weft/batch/schedule.hpp>
#include <weft/process/supervisor.hpp>

#include "batch/attempt.hpp"
#include "batch/bell.hpp"
#include "batch/predictor.hpp"

namespace weft::batch {

// Every command finds the ids of its run and its rule in these variables. That of the run tells
// whom a killed program has left behind.
inline constexpr const char* run_variable = "WEFT_RUN";
inline constexpr const char* rule_variable = "WEFT_RULE";

// One run: the dispatcher under a lock, and those who ask it for work.
//
// A worker of the run is a lane, not a thread. A lane with a command waits in the supervisor, one
// with a function or a check works in a thread of its own, as a guest of the pool. Whoever ends a
// rule, be it the supervisor's thread or a lane's, takes the next for its lane at once, without
// waking anybody, and hands work to lanes that are idle. The thread that called run() keeps time:
// retries, time limits, load, interrupts.
class conductor {
 public:
  // `record` has the plan, and what an earlier part of the run has done. `log` may be null.
  conductor(const plan& what, const graph& shape, const run_options& options, run_record record,
            predictor expected, std::vector<demand> demands, event_log* log);
  ~conductor();
  conductor(const conductor&) = delete;
  conductor& operator=(const conductor&) = delete;

  void run();

  [[nodiscard]] run_record take_record() { return std::move(record_); }
  // What was seen of each rule that ran, for its profile.
  struct sighting {
    node rule = 0;
    double seconds = 0;
    std::uint64_t peak_rss = 0;
    bool passed = false;
    bool timed_out = false;
  };
  [[nodiscard]] const std::vector<sighting>& sightings() const noexcept { return sightings_; }

 private:
  using clock = std::chrono::steady_clock;

  struct lane {
    bool busy = false;
    dispatcher::assignment given;
    double started = 0;
    std::uint64_t turn = 0;  // tells a child of this rule from one of an earlier rule
    process::child_id child = 0;
    std::optional<double> deadline;  // of a rule inside this process
    bool late = false;               // its deadline has passed
    std::stop_source stop;
    bool called = false;  // its thread has work
    std::condition_variable wake;
    std::jthread thread;
  };
  struct retry {
    double when;
    node rule;
  };

  // Seconds since the beginning of the run.
  [[nodiscard]] double at(clock::time_point moment) const;
  [[nodiscard]] double now() const;
  // With the lock held:
  bool assign(unsigned index, std::vector<unsigned>& launches);
  void offer_to_idle(std::vector<unsigned>& launches);
  void call(unsigned index);
  void conclude(unsigned index, attempt&& made);
  void repeat(lane& ended, rule_record& rule, attempt&& made);
  void finish(lane& ended, rule_record& rule, attempt&& made);
  void note_skipped();
  void note_stage();
  void learn(node rule, const attempt& made, rule_status status);
  void tell(run_event::kind what, std::size_t index, unsigned worker = 0);
  void begin_ending(run_ending why);
  void kill_running(process::stop_mode mode);
  void keep_time(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::optional<double> next_moment() const;
  void look_at_clock(std::vector<unsigned>& launches);
  [[nodiscard]] progress so_far() const;
  void estimate_end(std::unique_lock<std::mutex>& lock);
  // Without:
  void launch(const std::vector<unsigned>& lanes);
  void launch(unsigned index);
  void command_ended(unsigned index, process::outcome&& ended);
  void lane_thread(unsigned index);
  void work_here(unsigned index);

  const plan& plan_;
  const graph& graph_;
  const run_options& options_;
  event_log* log_;
  double offset_;  // what an earlier part of the run took
  clock::time_point begin_;

  std::mutex mutex_;  // guards everything below
  bell changed_;      // has its own
  run_record record_;
  predictor predictor_;
  dispatcher dispatcher_;
  std::vector<retry> retries_;
  std::vector<sighting> sightings_;
  bool expects_others_ = false;       // the predictor has learned what the dispatcher is not told
  std::size_t next_expectation_ = 0;  // how many sightings there are when it will be
  std::optional<std::uint32_t> batch_;
  double next_tick_ = 0;
  double next_estimate_ = 0;  // when to look again at when the run will end
  double expected_end_ = 0;   // when it will
  double next_load_look_ = 0;
  std::optional<process::stop_mode> killing_;
  bool closing_ = false;
  bool has_local_rules_ = false;
  std::size_t idle_ = 0;
  std::vector<lane> lanes_;

  // Last, so that they end first: their threads use everything above.
  std::unique_ptr<pool> own_pool_;
  pool* pool_ = nullptr;
  std::unique_ptr<process::supervisor> supervisor_;
};

}  // namespace weft::batch
