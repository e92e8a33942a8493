#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <weft/batch/bound.hpp>
#include <weft/batch/graph.hpp>
#include <weft/batch/ready_queue.hpp>

namespace weft::batch {

struct dispatch_options {
  unsigned workers = 1;
  run_policy policy = run_policy::critical_path;
  bool barriers = false;     // one batch after another
  bool fixed = false;        // with barriers: all workers for every batch, instead of by its size
  std::uint64_t memory = 0;  // bytes that what runs at once may need; 0: any
};

// What a rule takes up while it runs.
struct demand {
  unsigned weight = 1;
  std::uint64_t memory = 0;
};

// Decides which rule runs next on which worker. It has no thread, no clock and no lock: times are
// seconds since the beginning of the run, given by the caller. A run drives it with real workers,
// simulate() with pretended ones.
//
// Invariants: a rule is handed out once unless it is postponed; never before all its predecessors
// are finished; what is handed out at once fits into workers and memory, where a rule that is
// larger than the memory runs beside none that needs any.
class dispatcher {
 public:
  struct assignment {
    node rule = 0;
    std::optional<unsigned> stolen_from = std::nullopt;
    double ready = 0;                           // since when it could have run
    std::optional<double> held = std::nullopt;  // since when there was no room for it
  };
  // A rule that will not run, and the failed one that is why.
  struct skipped {
    node rule = 0;
    node cause = 0;
  };

  // Errors: plan_error if barriers are wanted and batches wait for each other.
  dispatcher(const graph& of, costs expected, std::vector<demand> demands,
             const dispatch_options& options);

  // A rule that an earlier part of the run has finished; before begin().
  void already_finished(node rule, bool passed);
  // A rule that runs when this begins, and is expected to end then; before begin().
  void already_running(node rule, double expected_end);
  // A rule that failed and will be ready_again(); before begin().
  void already_postponed(node rule);
  // With barriers: how many workers the batch that is under way has got; before begin().
  void already_limited(unsigned workers);
  void begin(double now);

  // What `worker`, which is idle, should run; nothing if it has to wait.
  [[nodiscard]] std::optional<assignment> next(unsigned worker, double now);
  // With `passed` false, everything after the rule is skipped.
  void finished(node rule, bool passed, double now);
  // The rule ended, and will be ready again later: a retry.
  void postpone(node rule);
  void ready_again(node rule, double now);
  // Nothing is handed out while this holds and something runs.
  void hold(bool held) { held_ = held; }
  // Nothing is handed out any more.
  void stop();

  // New expectations for rules that have not begun.
  void expect(costs expected);

  // What was skipped since this was called last.
  [[nodiscard]] std::vector<skipped> take_skipped() { return std::exchange(skipped_, {}); }
  // Nothing runs, and nothing more will.
  [[nodiscard]] bool done() const noexcept;
  [[nodiscard]] std::size_t ready_count() const { return queue_->size(); }
  [[nodiscard]] std::size_t running_count() const noexcept { return running_.size(); }
  [[nodiscard]] std::size_t unfinished_count() const noexcept { return unfinished_; }
  // How many workers may run rules now, and for which batch; without barriers all, for none.
  [[nodiscard]] unsigned worker_limit() const noexcept { return worker_limit_; }
  [[nodiscard]] std::optional<std::uint32_t> current_batch() const noexcept;
  [[nodiscard]] const costs& expected() const noexcept { return cost_; }
  [[nodiscard]] const std::vector<demand>& demands() const noexcept { return demand_; }
  [[nodiscard]] const dispatch_options& options() const noexcept { return options_; }

 private:
  enum class state : std::uint8_t { waiting, ready, running, postponed, finished, skipped };
  struct running_rule {
    node rule;
    double expected_end;
  };

  void make_stages();
  void enter_next_stage(double now);
  void complete(node n, std::vector<node>& fresh);
  void settle(node rule);
  void skip_after(node failed);
  void make_ready(std::vector<node>& fresh, double now);
  void release(node rule);
  [[nodiscard]] bool fits(const demand& wanted) const;
  [[nodiscard]] double fits_at(const demand& wanted) const;
  [[nodiscard]] bool admits(node rule);

  const graph& graph_;
  dispatch_options options_;
  costs cost_;
  std::vector<double> rank_;
  std::vector<demand> demand_;
  std::vector<state> state_;            // of rules
  std::vector<std::uint32_t> missing_;  // predecessors of each node that are not finished
  std::vector<bool> skipped_node_;      // gates too
  std::vector<double> ready_since_;     // of rules
  std::vector<double> held_since_;      // of rules; negative: never
  std::unique_ptr<ready_queue> queue_;
  ready_queue::filter filter_;
  std::vector<running_rule> running_;
  unsigned weight_used_ = 0;
  std::uint64_t memory_used_ = 0;
  std::size_t unfinished_ = 0;
  bool held_ = false;
  bool stopped_ = false;
  std::vector<skipped> skipped_;
  std::vector<node> failed_earlier_;  // in an earlier part of the run

  // While next() looks for a rule: the time, and until when the first one that did not fit must
  // find room.
  double now_ = 0;
  std::optional<double> reserved_from_;

  // With barriers: the batches in order, and what is ready but not its turn.
  std::vector<std::uint32_t> stage_of_;   // of batches
  std::vector<std::uint32_t> batch_at_;   // of stages
  std::vector<std::size_t> unsettled_;    // rules of each stage that are not finished
  std::vector<std::vector<node>> early_;  // of each stage
  std::size_t stage_ = 0;
  unsigned worker_limit_ = 1;
  std::optional<unsigned> limit_so_far_;
};

}  // namespace weft::batch
