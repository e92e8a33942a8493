#include <weft/batch/dispatcher.hpp>

#include <algorithm>
#include <queue>

#include <weft/adapt/policy/batch_size.hpp>
#include <weft/base/assert.hpp>

namespace weft::batch {
namespace {

// A rule that is larger than all of it may have taken it.
std::uint64_t free_of(std::uint64_t all, std::uint64_t used) { return all - std::min(all, used); }

}  // namespace

dispatcher::dispatcher(const graph& of, costs expected, std::vector<demand> demands,
                       const dispatch_options& options)
    : graph_(of),
      options_(options),
      cost_(std::move(expected)),
      rank_(upward_ranks(of, cost_)),
      demand_(std::move(demands)),
      state_(of.rule_count(), state::waiting),
      missing_(of.node_count(), 0),
      skipped_node_(of.node_count(), false),
      ready_since_(of.rule_count(), 0.0),
      held_since_(of.rule_count(), -1.0),
      queue_(make_ready_queue(options.policy, {.cost = cost_, .rank = rank_}, options.workers)),
      filter_([this](node rule) { return admits(rule); }),
      unfinished_(of.rule_count()),
      worker_limit_(options.workers) {
  for (node n = 0; n < of.node_count(); ++n) {
    missing_[n] = static_cast<std::uint32_t>(of.predecessors(n).size());
  }
  for (demand& each : demand_) each.weight = std::clamp(each.weight, 1U, options_.workers);
  if (options_.barriers) make_stages();
}

void dispatcher::already_finished(node rule, bool passed) {
  settle(rule);
  state_[rule] = state::finished;
  if (!passed) failed_earlier_.push_back(rule);
}

void dispatcher::already_running(node rule, double expected_end) {
  state_[rule] = state::running;
  running_.push_back({rule, expected_end});
  weight_used_ += demand_[rule].weight;
  memory_used_ += demand_[rule].memory;
}

void dispatcher::already_postponed(node rule) { state_[rule] = state::postponed; }

void dispatcher::already_limited(unsigned workers) { limit_so_far_ = workers; }

void dispatcher::begin(double now) {
  std::vector<node> fresh;
  for (const node failed : failed_earlier_) skip_after(failed);
  // What was finished before lets others go; what is skipped has nobody waiting.
  for (const node n : graph_.order()) {
    const bool is_rule = !graph_.is_gate(n);
    if (is_rule && state_[n] == state::finished) {
      for (const node next : graph_.successors(n)) --missing_[next];
    } else if (!is_rule && missing_[n] == 0 && !skipped_node_[n]) {
      for (const node next : graph_.successors(n)) --missing_[next];
    }
  }
  for (node r = 0; r < graph_.rule_count(); ++r) {
    if (state_[r] == state::waiting && missing_[r] == 0) fresh.push_back(r);
  }
  if (options_.barriers) {
    for (const node r : fresh) early_[stage_of_[graph_.batch_of(r)]].push_back(r);
    enter_next_stage(now);
  } else {
    make_ready(fresh, now);
  }
}

std::optional<dispatcher::assignment> dispatcher::next(unsigned worker, double now) {
  if (stopped_ || worker >= worker_limit_ || queue_->size() == 0) return std::nullopt;
  now_ = now;
  reserved_from_.reset();
  const std::optional<picked> chosen = queue_->take(worker, filter_);
  if (!chosen) return std::nullopt;
  const node rule = chosen->rule;
  WEFT_ASSERT(state_[rule] == state::ready, "a rule is handed out once");
  state_[rule] = state::running;
  running_.push_back({rule, now + cost_[rule]});
  weight_used_ += demand_[rule].weight;
  memory_used_ += demand_[rule].memory;
  assignment given{.rule = rule, .ready = ready_since_[rule]};
  if (chosen->owner != worker) given.stolen_from = chosen->owner;
  if (held_since_[rule] >= 0) given.held = held_since_[rule];
  return given;
}

void dispatcher::finished(node rule, bool passed, double now) {
  release(rule);
  state_[rule] = state::finished;
  std::vector<node> fresh;
  if (passed) {
    complete(rule, fresh);
  } else {
    skip_after(rule);
  }
  settle(rule);
  make_ready(fresh, now);
  if (options_.barriers && stage_ < unsettled_.size() && unsettled_[stage_] == 0) {
    enter_next_stage(now);
  }
}

void dispatcher::postpone(node rule) {
  release(rule);
  state_[rule] = state::postponed;
}

void dispatcher::ready_again(node rule, double now) {
  WEFT_ASSERT(state_[rule] == state::postponed, "only what was postponed becomes ready again");
  std::vector<node> fresh{rule};
  held_since_[rule] = -1;
  make_ready(fresh, now);
}

void dispatcher::stop() { stopped_ = true; }

void dispatcher::expect(costs expected) {
  std::ranges::copy(expected, cost_.begin());  // the queue has spans of both
  std::ranges::copy(upward_ranks(graph_, cost_), rank_.begin());
  queue_->reorder();
}

bool dispatcher::done() const noexcept {
  return running_.empty() && (stopped_ || unfinished_ == 0);
}

std::optional<std::uint32_t> dispatcher::current_batch() const noexcept {
  if (!options_.barriers || stage_ >= batch_at_.size()) return std::nullopt;
  return batch_at_[stage_];
}

// The batches in an order in which no rule waits for a later batch; those that are free to go are
// taken as the plan has them.
void dispatcher::make_stages() {
  const std::size_t batches = graph_.batch_count();
  const auto batch_of = [&](node n) {
    return graph_.is_gate(n) ? (n - graph_.rule_count()) / 2 : graph_.batch_of(n);
  };
  std::vector<std::vector<std::uint32_t>> later(batches);
  std::vector<std::size_t> missing(batches, 0);
  for (node n = 0; n < graph_.node_count(); ++n) {
    for (const node next : graph_.successors(n)) {
      if (batch_of(n) == batch_of(next)) continue;
      later[batch_of(n)].push_back(batch_of(next));
      ++missing[batch_of(next)];
    }
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  for (std::uint32_t b = 0; b < batches; ++b) {
    if (missing[b] == 0) free.push(b);
  }
  stage_of_.assign(batches, 0);
  while (!free.empty()) {
    const std::uint32_t b = free.top();
    free.pop();
    stage_of_[b] = static_cast<std::uint32_t>(batch_at_.size());
    batch_at_.push_back(b);
    for (const std::uint32_t next : later[b]) {
      if (--missing[next] == 0) free.push(next);
    }
  }
  if (batch_at_.size() < batches) {
    const auto stuck = std::ranges::find_if(missing, [](std::size_t count) { return count > 0; });
    const auto index = static_cast<std::size_t>(stuck - missing.begin());
    throw plan_error({{graph_.batch_name(index), "after",
                       "its rules and those of another batch wait for each other, so the batches "
                       "cannot run one after another; run without barriers"}});
  }
  early_.resize(batches);
  unsettled_.assign(batches, 0);
  for (node r = 0; r < graph_.rule_count(); ++r) ++unsettled_[stage_of_[graph_.batch_of(r)]];
}

void dispatcher::enter_next_stage(double now) {
  while (stage_ < unsettled_.size() && unsettled_[stage_] == 0) ++stage_;
  if (stage_ >= unsettled_.size()) return;
  if (limit_so_far_) {
    worker_limit_ = *std::exchange(limit_so_far_, std::nullopt);
  } else if (!options_.fixed) {
    worker_limit_ = adapt::batch_size(unsettled_[stage_], options_.workers).workers;
  }
  std::vector<node> fresh = std::exchange(early_[stage_], {});
  make_ready(fresh, now);
}

// Tells the successors of a node that it is finished; collects the rules that have no other to
// wait for. Gates are finished in passing.
void dispatcher::complete(node n, std::vector<node>& fresh) {
  std::vector<node> todo{n};
  while (!todo.empty()) {
    const node done = todo.back();
    todo.pop_back();
    for (const node next : graph_.successors(done)) {
      if (--missing_[next] > 0 || skipped_node_[next]) continue;
      if (graph_.is_gate(next)) {
        todo.push_back(next);
      } else if (state_[next] == state::waiting) {  // else an earlier part of the run has done it
        fresh.push_back(next);
      }
    }
  }
}

// One rule less to wait for.
void dispatcher::settle(node rule) {
  --unfinished_;
  if (options_.barriers) --unsettled_[stage_of_[graph_.batch_of(rule)]];
}

void dispatcher::skip_after(node failed) {
  std::vector<node> todo{failed};
  while (!todo.empty()) {
    const node n = todo.back();
    todo.pop_back();
    for (const node next : graph_.successors(n)) {
      if (skipped_node_[next]) continue;
      if (!graph_.is_gate(next)) {
        if (state_[next] == state::finished) continue;  // by an earlier part of the run
        state_[next] = state::skipped;
        skipped_.push_back({next, failed});
        settle(next);
      }
      skipped_node_[next] = true;
      todo.push_back(next);
    }
  }
}

void dispatcher::make_ready(std::vector<node>& fresh, double now) {
  if (options_.barriers) {
    std::erase_if(fresh, [&](node rule) {
      const std::uint32_t stage = stage_of_[graph_.batch_of(rule)];
      if (stage == stage_) return false;
      early_[stage].push_back(rule);
      return true;
    });
  }
  for (const node rule : fresh) {
    state_[rule] = state::ready;
    ready_since_[rule] = now;
  }
  if (!fresh.empty()) queue_->add(fresh);
}

void dispatcher::release(node rule) {
  const auto at = std::ranges::find(running_, rule, &running_rule::rule);
  WEFT_ASSERT(at != running_.end(), "only a rule that runs can end");
  running_.erase(at);
  weight_used_ -= demand_[rule].weight;
  memory_used_ -= demand_[rule].memory;
}

bool dispatcher::fits(const demand& wanted) const {
  if (running_.empty()) return true;
  if (weight_used_ + wanted.weight > options_.workers) return false;
  return options_.memory == 0 || wanted.memory == 0 ||
         wanted.memory <= free_of(options_.memory, memory_used_);
}

// When the demand will fit, if what runs ends as expected.
double dispatcher::fits_at(const demand& wanted) const {
  std::vector<running_rule> ending = running_;
  std::ranges::sort(ending, {}, &running_rule::expected_end);
  unsigned weight = weight_used_;
  std::uint64_t memory = memory_used_;
  for (const running_rule& each : ending) {
    weight -= demand_[each.rule].weight;
    memory -= demand_[each.rule].memory;
    const bool room = weight + wanted.weight <= options_.workers &&
                      (options_.memory == 0 || wanted.memory <= free_of(options_.memory, memory));
    if (room) return std::max(each.expected_end, now_);
  }
  return now_;
}

// The first rule that does not fit gets a reservation: others may go before it only if they are
// expected to be out of its way by then. Without that, small rules could keep a large one out.
bool dispatcher::admits(node rule) {
  const bool room = !(held_ && !running_.empty()) && fits(demand_[rule]);
  const bool in_time = !reserved_from_ || now_ + cost_[rule] <= *reserved_from_;
  if (room && in_time) return true;
  if (!reserved_from_) reserved_from_ = fits_at(demand_[rule]);
  if (held_since_[rule] < 0) held_since_[rule] = now_;
  return false;
}

}  // namespace weft::batch
