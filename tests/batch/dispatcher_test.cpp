#include <weft/batch/dispatcher.hpp>

#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

#include <batch/plans.hpp>
#include <support/property.hpp>

namespace weft::batch {
namespace {

using test::light;
using test::named;

enum class fate : std::uint8_t { waiting, running, postponed, passed, failed, skipped };

// A dispatcher driven by somebody who does what is allowed, in any order, beside a plain account of
// what must have become of each rule.
class driver {
 public:
  explicit driver(std::uint64_t seed)
      : random_(seed),
        made_(make_plan()),
        shape_(made_.plan),
        options_(make_options()),
        demands_(make_demands()),
        fate_(shape_.rule_count(), fate::waiting),
        busy_(options_.workers, false),
        tested_(shape_, made_.cost, demands_, options_) {}

  void resume_some() {
    for (const node n : shape_.order()) {
      if (shape_.is_gate(n) || below(3) != 0 || !may_run(n)) continue;
      const bool passed = below(6) != 0;
      earlier_.push_back({n, passed});
      fate_[n] = passed ? fate::passed : fate::failed;
    }
    std::ranges::shuffle(earlier_, random_);
    for (const auto& [rule, passed] : earlier_) tested_.already_finished(rule, passed);
    tested_.begin(now_);
    note_skipped();
  }

  void step() {
    now_ += 0.01;
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return offer(static_cast<unsigned>(below(options_.workers)));
      case 4:
      case 5:
        return end_one(below(8) != 0);
      case 6:
        return postpone_one();
      case 7:
        return wake_one();
      case 8:
        return tested_.hold(below(2) == 0);
      default:
        return tested_.expect(random_costs());
    }
  }

  // Everything that is possible, until nothing is.
  void drain() {
    tested_.hold(false);
    while (!tested_.done()) {
      while (!with(fate::postponed).empty()) wake_one();
      for (unsigned worker = 0; worker < options_.workers; ++worker) offer(worker);
      RC_ASSERT(!with(fate::running).empty());  // or nothing would ever happen again
      end_one(below(8) != 0);
    }
    for (node r = 0; r < shape_.rule_count(); ++r) {
      RC_ASSERT(fate_[r] == fate::passed || fate_[r] == fate::failed || fate_[r] == fate::skipped);
    }
    RC_ASSERT(tested_.unfinished_count() == 0U);
    RC_ASSERT(tested_.ready_count() == 0U);
  }

  void stop() {
    tested_.stop();
    for (unsigned worker = 0; worker < options_.workers; ++worker) {
      RC_ASSERT(busy_[worker] || !tested_.next(worker, now_).has_value());
    }
    while (!with(fate::running).empty()) {
      RC_ASSERT(!tested_.done());
      end_one(true);
    }
    RC_ASSERT(tested_.done());
  }

 private:
  struct given {
    node rule;
    unsigned worker;
  };

  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  test::layered make_plan() {
    std::vector<std::size_t> sizes(1 + below(5));
    for (std::size_t& size : sizes) size = below(7);
    const std::size_t parents = below(4);
    return test::make_layered(sizes, parents, 1.0, random_());
  }

  dispatch_options make_options() {
    constexpr std::array policies = {run_policy::critical_path, run_policy::stealing,
                                     run_policy::largest_first, run_policy::fifo};
    return {.workers = static_cast<unsigned>(1 + below(5)),
            .policy = policies[below(policies.size())],
            .barriers = below(2) == 0,
            .fixed = below(2) == 0,
            .memory = below(2) == 0 ? 0U : 100U};
  }

  std::vector<demand> make_demands() {
    std::vector<demand> all;
    for (node r = 0; r < shape_.rule_count(); ++r) {
      all.push_back({.weight = static_cast<unsigned>(1 + below(3)), .memory = below(150)});
    }
    return all;
  }

  costs random_costs() {
    costs all;
    for (node r = 0; r < shape_.rule_count(); ++r) {
      all.push_back(static_cast<double>(below(100)) / 100);
    }
    return all;
  }

  // Layered plans have no edges between rules and gates that matter: batches wait for nothing.
  [[nodiscard]] bool may_run(node rule) const {
    return std::ranges::all_of(shape_.predecessors(rule), [&](node before) {
      return shape_.is_gate(before) || fate_[before] == fate::passed;
    });
  }

  [[nodiscard]] std::vector<node> with(fate wanted) const {
    std::vector<node> found;
    for (node r = 0; r < shape_.rule_count(); ++r) {
      if (fate_[r] == wanted) found.push_back(r);
    }
    return found;
  }

  void offer(unsigned worker) {
    if (busy_[worker]) return;
    const auto next = tested_.next(worker, now_);
    if (!next) return;
    RC_ASSERT(fate_[next->rule] == fate::waiting);
    RC_ASSERT(may_run(next->rule));
    RC_ASSERT(worker < tested_.worker_limit());
    RC_ASSERT(next->ready <= now_);
    fate_[next->rule] = fate::running;
    busy_[worker] = true;
    running_.push_back({next->rule, worker});
    RC_ASSERT(tested_.running_count() == running_.size());
    expect_room();
  }

  void expect_room() const {
    unsigned weight = 0;
    std::uint64_t memory = 0;
    std::size_t with_memory = 0;
    for (const given& each : running_) {
      weight += std::min(demands_[each.rule].weight, options_.workers);
      memory += demands_[each.rule].memory;
      with_memory += demands_[each.rule].memory > 0 ? 1 : 0;
      const std::uint32_t batch = shape_.batch_of(each.rule);
      RC_ASSERT(!options_.barriers || batch == shape_.batch_of(running_.front().rule));
    }
    RC_ASSERT(weight <= options_.workers);
    RC_ASSERT(options_.memory == 0 || with_memory <= 1 || memory <= options_.memory);
  }

  std::optional<node> release_one() {
    if (running_.empty()) return std::nullopt;
    const auto at = running_.begin() + static_cast<std::ptrdiff_t>(below(running_.size()));
    const given ended = *at;
    running_.erase(at);
    busy_[ended.worker] = false;
    return ended.rule;
  }

  void end_one(bool passed) {
    const auto rule = release_one();
    if (!rule) return;
    fate_[*rule] = passed ? fate::passed : fate::failed;
    tested_.finished(*rule, passed, now_);
    note_skipped();
  }

  void postpone_one() {
    const auto rule = release_one();
    if (!rule) return;
    fate_[*rule] = fate::postponed;
    tested_.postpone(*rule);
  }

  void wake_one() {
    const std::vector<node> asleep = with(fate::postponed);
    if (asleep.empty()) return;
    const node rule = asleep[below(asleep.size())];
    fate_[rule] = fate::waiting;
    tested_.ready_again(rule, now_);
  }

  void note_skipped() {
    for (const auto& [rule, cause] : tested_.take_skipped()) {
      RC_ASSERT(fate_[rule] == fate::waiting);
      RC_ASSERT(fate_[cause] == fate::failed);
      fate_[rule] = fate::skipped;
    }
    // Exactly what comes after a failure is skipped.
    for (node r = 0; r < shape_.rule_count(); ++r) {
      const bool doomed = std::ranges::any_of(shape_.predecessors(r), [&](node before) {
        return !shape_.is_gate(before) &&
               (fate_[before] == fate::failed || fate_[before] == fate::skipped);
      });
      RC_ASSERT(doomed == (fate_[r] == fate::skipped));
    }
  }

  std::mt19937_64 random_;
  test::layered made_;
  graph shape_;
  dispatch_options options_;
  std::vector<demand> demands_;
  std::vector<fate> fate_;
  std::vector<bool> busy_;
  std::vector<given> running_;
  std::vector<std::pair<node, bool>> earlier_;
  double now_ = 0;
  dispatcher tested_;
};

TEST(Dispatcher, WhateverHappensEveryRuleRunsOnceOrIsSkippedForAFailure) {
  EXPECT_TRUE(test::holds("nothing is lost", [](std::uint64_t seed) {
    driver drives(seed);
    drives.resume_some();
    for (int i = 0; i < 200; ++i) drives.step();
    drives.drain();
  }));
}

TEST(Dispatcher, StoppedAtAnyMomentItHandsOutNothingAndIsDoneWhenNothingRuns) {
  EXPECT_TRUE(test::holds("it stops", [](std::uint64_t seed) {
    driver drives(seed);
    drives.resume_some();
    for (std::uint64_t i = 0; i < seed % 100; ++i) drives.step();
    drives.stop();
  }));
}

TEST(Dispatcher, WhatAnEarlierPartHasFinishedIsNotHandedOutAlthoughAPredecessorRunsOnlyNow) {
  plan p;
  p.add(named("a")).add(named("b", {"a"})).add(named("c", {"b"}));
  const graph shape(p);
  dispatcher tested(shape, {1, 1, 1}, light(shape), {.workers = 1});
  tested.already_finished(1, true);
  tested.begin(0);
  EXPECT_EQ(tested.next(0, 0)->rule, 0U);
  tested.finished(0, true, 1);
  EXPECT_EQ(tested.next(0, 1)->rule, 2U);
  tested.finished(2, true, 2);
  EXPECT_FALSE(tested.next(0, 2).has_value());
  EXPECT_TRUE(tested.done());
}

TEST(Dispatcher, WhatAnEarlierPartHasFinishedIsNotSkippedForAFailureOfThatPart) {
  plan p;
  p.add(named("a")).add(named("b", {"a"})).add(named("c", {"b"}));
  const graph shape(p);
  dispatcher tested(shape, {1, 1, 1}, light(shape), {.workers = 1});
  tested.already_finished(0, false);
  tested.already_finished(1, true);
  tested.begin(0);
  EXPECT_EQ(tested.unfinished_count(), 1U);
  EXPECT_TRUE(tested.take_skipped().empty());
  EXPECT_EQ(tested.next(0, 0)->rule, 2U);
  tested.finished(2, true, 1);
  EXPECT_TRUE(tested.done());
}

TEST(Dispatcher, DemandsBeyondAllMeasureDoNotAddUpToLittle) {
  plan p;
  p.add(named("a")).add(named("b"));
  const graph shape(p);
  const demand huge{.weight = 1, .memory = UINT64_MAX};
  dispatcher tested(shape, {1, 1}, {huge, huge}, {.workers = 2, .memory = UINT64_MAX - 1});
  tested.begin(0);
  EXPECT_TRUE(tested.next(0, 0).has_value());
  EXPECT_FALSE(tested.next(1, 0).has_value());
}

}  // namespace
}  // namespace weft::batch
