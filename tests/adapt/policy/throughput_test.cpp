#include <weft/adapt/policy/throughput.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <support/scale.hpp>

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using testing::HasSubstr;
using weft::adapt::explain;
using weft::adapt::sizing;
using weft::adapt::sizing_reason;
using weft::adapt::throughput;
using weft::adapt::throughput_config;
using weft::adapt::time_point;
using weft::adapt::work_window;

nanoseconds to_time(double seconds) {
  return std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(seconds));
}

// Work as a policy sees it: how fast each number of workers gets through it, and how much CPU they
// use for that.
struct workload {
  std::string name;
  double cpus;
  unsigned best;
  std::function<double(unsigned)> rate;      // items a second
  std::function<double(unsigned)> cpu_used;  // CPUs
};

void PrintTo(const workload& work, std::ostream* out) { *out << work.name; }

workload cpu_bound(double cpus) {
  const auto busy = [cpus](unsigned n) { return std::min<double>(n, cpus); };
  return {"CPU bound on " + std::to_string(static_cast<int>(cpus)), cpus,
          static_cast<unsigned>(cpus), [=](unsigned n) { return 100 * busy(n); }, busy};
}

// Items of 10 ms CPU and 90 ms wait; `slots` of them fit into what they wait for.
workload waiting_work(double cpus, unsigned slots) {
  const double most = std::min(cpus * 100, slots * 10.0);
  const auto rate = [=](unsigned n) { return std::min(n * 10.0, most); };
  return {"waits on " + std::to_string(static_cast<int>(cpus)), cpus,
          static_cast<unsigned>(std::lround(most / 10)), rate,
          [=](unsigned n) { return rate(n) * 0.01; }};
}

// Busy on all CPUs, and beyond the best size they only take the memory from each other.
workload memory_bound() {
  const auto rate = [](unsigned n) {
    return n <= 4 ? 100.0 * n : 400.0 - 20.0 * std::min(n - 4, 8U);
  };
  return {"memory bound", 8, 4, rate, [](unsigned n) { return std::min<double>(n, 8); }};
}

// What a run of windows of one second came to.
struct run {
  std::vector<unsigned> sizes;  // in force during each window
  std::vector<double> share;    // of the best rate, without the noise
  int changes = 0;

  // Without end when it never got there.
  [[nodiscard]] double seconds_to_reach(double wanted) const {
    const auto first =
        std::find_if(share.begin(), share.end(), [=](double s) { return s >= wanted; });
    if (first == share.end()) return std::numeric_limits<double>::infinity();
    return static_cast<double>(first - share.begin());
  }

  [[nodiscard]] double mean_share(std::size_t from) const {
    double sum = 0;
    for (std::size_t i = from; i < share.size(); ++i) sum += share[i];
    return sum / static_cast<double>(share.size() - from);
  }
};

// A policy with the work it sizes.
class bench {
 public:
  bench(workload work, double noise, std::uint64_t seed, throughput_config config = {})
      : work_(std::move(work)), noise_(noise), random_(seed), policy_(config) {
    size_ = policy_.start(work_.cpus);
  }

  [[nodiscard]] unsigned size() const { return size_; }
  void switch_to(workload work) { work_ = std::move(work); }

  work_window window() {
    std::normal_distribution<double> normal(0, noise_);
    const double factor = std::max(0.1, 1 + normal(random_));
    const double cpu = std::min(work_.cpu_used(size_) * (1 + 0.2 * (factor - 1)), 1.0 * size_);
    return {.wall = 1s,
            .cpu = to_time(cpu),
            .completed = static_cast<std::uint64_t>(std::lround(work_.rate(size_) * factor)),
            .waiting = 1000,
            .workers = size_,
            .usable_cpus = work_.cpus,
            .machine_cpu = 100 * std::min(1.0, work_.cpu_used(size_) / work_.cpus)};
  }

  sizing poll(const work_window& w) {
    now_ += w.wall;
    const sizing s = policy_.poll(w, now_);
    size_ = s.workers;
    return s;
  }

  run go(int seconds) {
    run all;
    const double best = work_.rate(work_.best);
    for (int i = 0; i < seconds; ++i) {
      all.sizes.push_back(size_);
      all.share.push_back(work_.rate(size_) / best);
      const unsigned before = size_;
      poll(window());
      all.changes += size_ != before ? 1 : 0;
    }
    return all;
  }

 private:
  workload work_;
  double noise_;
  std::mt19937_64 random_;
  throughput policy_;
  unsigned size_ = 1;
  time_point now_{};
};

struct item {
  double cpu = 0;   // seconds
  double wait = 0;  // seconds
};

// Workers that take whole items one after another, as long ones show: none finishes for a while,
// and then all do. Sizes come into force as workers finish.
class crew {
 public:
  crew(item work, double cpus, std::uint64_t seed, throughput_config config = {})
      : work_(work), cpus_(cpus), random_(seed), policy_(config) {
    size_ = policy_.start(cpus);
  }

  [[nodiscard]] unsigned size() const { return size_; }
  void switch_to(item work) { work_ = work; }

  sizing work_a_second() {
    completed_ = 0;
    cpu_ = 0;
    while (ends_.size() < size_) ends_.push_back(time_ + take());
    for (double& end : ends_) {
      while (end <= time_ + 1) {
        ++completed_;
        end += take();
      }
    }
    time_ += 1;
    const sizing s = policy_.poll({.wall = 1s,
                                   .cpu = to_time(cpu_),
                                   .completed = completed_,
                                   .waiting = 1000,
                                   .workers = size_,
                                   .usable_cpus = cpus_},
                                  time_point{} + to_time(time_));
    size_ = s.workers;
    // Those with the most left to do stay with it, and are not replaced.
    std::sort(ends_.begin(), ends_.end());
    if (ends_.size() > size_) ends_.resize(size_);
    return s;
  }

  // How often the size changed.
  int go(int for_seconds) {
    int changes = 0;
    for (int i = 0; i < for_seconds; ++i) {
      const unsigned before = size_;
      work_a_second();
      changes += size_ != before ? 1 : 0;
    }
    return changes;
  }

 private:
  // How long the next item will take: a fifth more or less, and longer when CPUs are short.
  double take() {
    const double factor = std::uniform_real_distribution<double>(0.8, 1.2)(random_);
    const double alone = work_.cpu + work_.wait;
    const double wanted_cpus = size_ * work_.cpu / alone;
    cpu_ += work_.cpu * factor;
    return alone * factor * std::max(1.0, wanted_cpus / cpus_);
  }

  item work_;
  double cpus_;
  std::mt19937_64 random_;
  throughput policy_;
  unsigned size_ = 1;
  std::vector<double> ends_;  // of the items under way
  double time_ = 0;
  std::uint64_t completed_ = 0;
  double cpu_ = 0;
};

// --- Reaching the best size ----------------------------------------------------------------------

class Throughput : public testing::TestWithParam<workload> {};

INSTANTIATE_TEST_SUITE_P(Workloads, Throughput,
                         testing::Values(cpu_bound(2), cpu_bound(8), waiting_work(2, 1000),
                                         waiting_work(4, 40), memory_bound()));

TEST_P(Throughput, ReachesTheBestWithinTenSecondsAndStaysThere) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(GetParam().name + ", seed " + std::to_string(seed));
    const run r = bench(GetParam(), 0.05, seed).go(120);
    EXPECT_LT(r.seconds_to_reach(0.95), 10);
    EXPECT_GE(r.mean_share(10), 0.95);
    EXPECT_LE(r.changes, 40);
  }
}

TEST_P(Throughput, WithoutNoiseOnlyProbesLeaveTheBestSize) {
  const run r = bench(GetParam(), 0, 1).go(300);
  EXPECT_LT(r.seconds_to_reach(0.999), 10);
  EXPECT_GE(r.mean_share(10), 0.98);
}

TEST_P(Throughput, NoiseOfAFifthNeitherMakesItFlapNorDriftAway) {
  double all = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(GetParam().name + ", seed " + std::to_string(seed));
    const run r = bench(GetParam(), 0.20, seed).go(600);
    all += r.mean_share(10) / 20;
    EXPECT_GE(r.mean_share(10), 0.80);
    EXPECT_GE(r.mean_share(300), 0.80);
    EXPECT_LE(r.changes, 150) << "in 600 windows";
  }
  EXPECT_GE(all, 0.93);
}

// Windows of ten seconds, work that changes its nature every hour.
TEST(ThroughputForLong, HundredThousandSimulatedHours) {
  constexpr std::uint64_t seed = 4;
  std::cout << "seed " << seed << '\n';
  std::mt19937_64 random(seed);
  const std::vector<workload> kinds = {cpu_bound(2), cpu_bound(8), waiting_work(2, 1000),
                                       waiting_work(4, 40), memory_bound()};
  throughput policy({.min = 2, .max = 48});
  unsigned size = policy.start(2);
  time_point now{};
  double done = 0;
  double possible = 0;
  const int hours = weft::test::rounds(100'000);
  for (int hour = 0; hour < hours; ++hour) {
    const workload& work = kinds[random() % kinds.size()];
    const double best = work.rate(work.best);
    std::vector<double> rates(49);
    std::vector<double> cpus(49);
    for (unsigned n = 1; n <= 48; ++n) {
      rates[n] = work.rate(n);
      cpus[n] = work.cpu_used(n);
    }
    for (int i = 0; i < 360; ++i) {
      now += 10s;
      const std::uint64_t bits = random();
      const double factor = 0.95 + 0.1 * static_cast<double>(bits & 1023U) / 1024;
      const bool idle = (bits >> 32U) % 16 == 0;
      const sizing s =
          policy.poll({.wall = 10s,
                       .cpu = to_time(10 * cpus[size]),
                       .completed = static_cast<std::uint64_t>(10 * rates[size] * factor),
                       .waiting = idle ? 0U : 100U,
                       .workers = size,
                       .usable_cpus = work.cpus},
                      now);
      if (s.workers < 2 || s.workers > 48 || s.workers > 2 * size) {
        FAIL() << size << " to " << s.workers << " in hour " << hour;
      }
      done += rates[size];
      possible += best;
      size = s.workers;
    }
  }
  std::cout << "share of the best: " << done / possible << '\n';
  EXPECT_GE(done / possible, 0.93);
}

// --- Single decisions ----------------------------------------------------------------------------

TEST(ThroughputStart, IsTheUsableCpusWithinTheBounds) {
  EXPECT_EQ(throughput({}).start(6), 6U);
  EXPECT_EQ(throughput({}).start(1.5), 2U);
  EXPECT_EQ(throughput({.min = 4}).start(2), 4U);
  EXPECT_EQ(throughput({.max = 4}).start(16), 4U);
  EXPECT_EQ(throughput({}).start(0), 1U);
  EXPECT_EQ(throughput({}).start(std::numeric_limits<double>::quiet_NaN()), 1U);
  EXPECT_EQ(throughput({}).start(1e300), 64U);
}

TEST(ThroughputStep, GrowsToWhereTheCpusAreBusyByDoublingAtMost) {
  bench b(waiting_work(2, 1000), 0, 1);
  EXPECT_EQ(b.poll(b.window()).workers, 4U);
  EXPECT_EQ(b.poll(b.window()).workers, 8U);
  EXPECT_EQ(b.poll(b.window()).workers, 16U);
  const sizing s = b.poll(b.window());
  EXPECT_EQ(s.workers, 20U);
  EXPECT_EQ(s.reason, sizing_reason::growing);
  EXPECT_EQ(explain(s), "16 to 20 workers: they keep 80 % of 2 CPUs busy");
}

// The workers wait for a lock: more of them only wait more.
TEST(ThroughputStep, GoesBackFromAStepThatDoesNotPayAndWaitsLongerEachTime) {
  const workload locked = {"locked", 2, 2, [](unsigned) { return 100.0; },
                           [](unsigned) { return 1.0; }};
  bench b(locked, 0, 1, {.min = 2});
  std::vector<int> tries;
  for (int second = 1; second <= 300; ++second) {
    const unsigned before = b.size();
    const sizing s = b.poll(b.window());
    if (s.reason == sizing_reason::growing) tries.push_back(second);
    if (before == 4) {
      EXPECT_EQ(s.reason, sizing_reason::growth_undone);
      EXPECT_EQ(s.workers, 2U);
    }
  }
  EXPECT_THAT(tries, testing::ElementsAre(1, 7, 18, 39, 80, 141, 202, 263));
}

TEST(ThroughputStep, AGrowthThatWentTooFarSettlesWhereTheRateSaysTheWorkersWereBusy) {
  // Nineteen fit: 32 are a fifth faster than 16, which does not pay for twice the workers.
  const run r = bench(waiting_work(4, 19), 0, 1).go(60);
  EXPECT_LT(r.seconds_to_reach(0.999), 10);
  EXPECT_EQ(r.sizes.back(), 19U);
}

TEST(ThroughputStep, ProbesDownByFifteenPercentAndAtLeastOne) {
  bench large(cpu_bound(40), 0, 1);
  large.poll(large.window());
  EXPECT_EQ(large.poll(large.window()).workers, 34U);
  bench small(cpu_bound(3), 0, 1);
  small.poll(small.window());
  EXPECT_EQ(small.poll(small.window()).workers, 2U);
  bench least(cpu_bound(3), 0, 1, {.min = 3});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(least.poll(least.window()).workers, 3U);
}

TEST(ThroughputStep, FailedProbesComeFiveTenTwentySecondsApartAndThenAMinute) {
  bench b(cpu_bound(8), 0, 1);
  std::vector<int> probes;
  for (int second = 1; second <= 300; ++second) {
    if (b.poll(b.window()).reason == sizing_reason::probing_down) probes.push_back(second);
  }
  EXPECT_THAT(probes, testing::ElementsAre(2, 8, 19, 40, 81, 142, 203, 264));
}

TEST(ThroughputStep, WindowsWithoutDemandTeachNothingAndForgetNothing) {
  bench with_pauses(waiting_work(2, 1000), 0, 1);
  bench without(waiting_work(2, 1000), 0, 1);
  for (int i = 0; i < 5; ++i) {
    work_window idle = with_pauses.window();
    idle.waiting = 0;
    idle.completed = 1;
    idle.cpu = 0ns;
    const unsigned before = with_pauses.size();
    const sizing s = with_pauses.poll(idle);
    EXPECT_EQ(s.reason, sizing_reason::no_demand);
    EXPECT_EQ(s.workers, before);
    EXPECT_EQ(with_pauses.poll(with_pauses.window()).workers,
              without.poll(without.window()).workers);
  }
}

TEST(ThroughputStep, ItemsOfASecondAreJudgedFromSeveralWindows) {
  // Two workers, one second of CPU an item: two items a window.
  const workload slow = {"slow", 2, 2, [](unsigned n) { return std::min(n, 2U) * 1.0; },
                         [](unsigned n) { return std::min(n, 2U) * 1.0; }};
  bench b(slow, 0, 1);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(b.poll(b.window()).reason, sizing_reason::measuring);
  EXPECT_EQ(b.poll(b.window()).reason, sizing_reason::settled);
  const run r = bench(slow, 0, 1).go(600);
  EXPECT_GE(r.mean_share(0), 0.9);
}

TEST(ThroughputStep, ItemsOfASecondThatWaitGetMoreWorkers) {
  // A tenth of each item is CPU.
  const workload slow = {"slow", 2, 20, [](unsigned n) { return std::min(n, 20U) * 1.0; },
                         [](unsigned n) { return std::min(n, 20U) * 0.1; }};
  const run r = bench(slow, 0, 1).go(120);
  EXPECT_LT(r.seconds_to_reach(0.95), 60);
}

TEST(ThroughputStep, ItemsOfMinutesLeaveTheSizeAlone) {
  const workload glacial = {"glacial", 4, 4, [](unsigned) { return 0.02; },
                            [](unsigned) { return 0.1; }};
  const run r = bench(glacial, 0, 1).go(3600);
  EXPECT_EQ(r.changes, 0);
}

TEST(ThroughputStep, ItemsOfHalfAMinuteThatWaitGetMoreWorkersWithoutFlapping) {
  for (const double latency : {15.0, 20.0, 40.0}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE("items of " + std::to_string(latency) + " s, seed " + std::to_string(seed));
      crew c({.cpu = 0.1, .wait = latency - 0.1}, 2, seed);
      c.go(static_cast<int>(15 * latency));
      EXPECT_GE(c.size(), 48U);
      EXPECT_LE(c.go(3600), 50) << "a probe and back every two minutes and a half";
      EXPECT_GE(c.size(), 48U);
    }
  }
}

TEST(ThroughputStep, ItemsThatBecomeAThousandTimesSlowerAreJudgedByTheirOwnLatency) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    crew c({.cpu = 0.01, .wait = 0.03}, 2, seed);
    c.go(100);
    c.switch_to({.cpu = 0.4, .wait = 39.6});
    c.go(600);
    EXPECT_GE(c.size(), 40U);
  }
}

TEST(ThroughputStep, WorkThatBeginsToWaitGetsMoreWorkersSoon) {
  for (const unsigned min : {1U, 2U}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE("min " + std::to_string(min) + ", seed " + std::to_string(seed));
      crew c({.cpu = 0.01}, 2, seed, {.min = min});
      c.go(100);
      c.switch_to({.cpu = 0.01, .wait = 0.99});
      c.go(90);
      EXPECT_GE(c.size(), 32U);
    }
  }
}

TEST(ThroughputStep, AGrowthThatMeetsOtherWorkIsNotHeldAgainstTheOldRateForLong) {
  bench b(waiting_work(2, 1000), 0, 1, {.min = 2});
  EXPECT_EQ(b.poll(b.window()).workers, 4U);
  // A fiftieth of the rate, and the more workers the better.
  b.switch_to(
      {"slower", 2, 64, [](unsigned n) { return n * 1.0; }, [](unsigned n) { return n * 0.01; }});
  EXPECT_LT(b.go(120).seconds_to_reach(0.95), 90);
}

TEST(ThroughputStep, TheRateBeforeAGrowthHoldsAfterItUnlessTheWorkBecameSlower) {
  const throughput_config config{.min = 2};
  const auto samples_after_a_growth_to = [&](std::uint64_t completed) {
    work_window w{.wall = 1s, .cpu = 1s, .completed = 200, .waiting = 9, .workers = 2};
    w.usable_cpus = 2;
    const auto growing = step(weft::adapt::start(config, 2), config, w, time_point(1s));
    w.workers = 4;
    w.completed = completed;
    const auto undone = step(growing.state, config, w, time_point(2s));
    EXPECT_EQ(undone.sizing.reason, sizing_reason::growth_undone);
    return undone.state.here.samples;
  };
  EXPECT_EQ(samples_after_a_growth_to(190), 1U);
  EXPECT_EQ(samples_after_a_growth_to(130), 0U);
}

TEST(ThroughputStep, ARateFarFromWhatNoiseExplainsIsNewWork) {
  bench b(cpu_bound(2), 0.05, 1, {.min = 2});
  b.go(60);
  workload faster = cpu_bound(2);
  faster.rate = [](unsigned) { return 2000.0; };
  b.switch_to(faster);
  const sizing s = b.poll(b.window());
  EXPECT_EQ(s.reason, sizing_reason::work_changed);
  EXPECT_THAT(explain(s), testing::StartsWith("2 workers: the work is not what it was, "));
  EXPECT_EQ(b.poll(b.window()).reason, sizing_reason::settled) << "the new rate is the known one";
}

TEST(ThroughputStep, UsableCpusThatChangeMakeWhatWasMeasuredVoid) {
  bench b(waiting_work(2, 1000), 0, 1);
  EXPECT_EQ(b.poll(b.window()).workers, 4U);
  // Twice the workers and half the CPUs: held against the rate before, the step would be undone.
  work_window w = b.window();
  w.usable_cpus = 1;
  w.wall = 2s;
  w.completed = 30;
  EXPECT_EQ(b.poll(w).reason, sizing_reason::growing);
}

TEST(ThroughputStep, AStepThatCannotBeJudgedIsUndone) {
  bench b(waiting_work(2, 1000), 0, 1);
  EXPECT_EQ(b.poll(b.window()).workers, 4U);
  b.switch_to({"glacial", 2, 2, [](unsigned) { return 0.02; }, [](unsigned) { return 0.1; }});
  for (int i = 0; i < 29; ++i) EXPECT_EQ(b.poll(b.window()).workers, 4U);
  EXPECT_EQ(b.poll(b.window()).workers, 2U);
}

TEST(ThroughputStep, FractionsOfACpuThatComeAndGoStartNoNewProbes) {
  bench b(cpu_bound(2), 0, 1);
  int probes = 0;
  for (int second = 0; second < 120; ++second) {
    work_window w = b.window();
    w.usable_cpus = second % 2 == 0 ? 2 : 1.9;
    probes += b.poll(w).reason == sizing_reason::probing_down ? 1 : 0;
  }
  EXPECT_LE(probes, 5);
}

TEST(ThroughputStep, DoesNotGrowBeyondTheUsableCpusWhileTheMachineIsBusy) {
  bench b(waiting_work(2, 1000), 0, 1);
  work_window w = b.window();
  w.machine_cpu = 85.5;
  const sizing s = b.poll(w);
  EXPECT_EQ(s.workers, 2U);
  EXPECT_EQ(s.reason, sizing_reason::machine_busy);
  EXPECT_EQ(explain(s), "2 workers: the CPUs of the machine are 85.5 % busy, above 85 %");
  w.machine_cpu = 85;
  EXPECT_EQ(b.poll(w).workers, 4U);
}

TEST(ThroughputStep, GrowsUpToTheUsableCpusEvenWhileTheMachineIsBusy) {
  bench b(waiting_work(2, 1000), 0, 1);
  work_window w = b.window();
  w.machine_cpu = 99;
  w.usable_cpus = 3;
  EXPECT_EQ(b.poll(w).workers, 3U);
}

TEST(ThroughputStep, FollowsUsableCpusThatChange) {
  bench b(cpu_bound(2), 0, 1);
  b.go(30);
  b.switch_to(cpu_bound(8));
  EXPECT_LT(b.go(60).seconds_to_reach(0.95), 10);
  b.switch_to(cpu_bound(4));
  const run fewer = b.go(60);
  EXPECT_EQ(fewer.sizes.back(), 4U) << "eight would do no more than four";
}

TEST(ThroughputStep, ASizeThatIsNotYetInForceIsWaitedFor) {
  bench b(waiting_work(2, 1000), 0, 1);
  const work_window old = b.window();
  EXPECT_EQ(b.poll(old).workers, 4U);
  const sizing s = b.poll(old);
  EXPECT_EQ(s.reason, sizing_reason::not_in_force);
  EXPECT_EQ(s.workers, 4U);
  EXPECT_EQ(b.poll(b.window()).workers, 8U);
}

TEST(ThroughputStep, ASizeThatNeverComesIsGivenUp) {
  bench b(waiting_work(2, 1000), 0, 1);
  const work_window old = b.window();
  EXPECT_EQ(b.poll(old).workers, 4U);
  b.poll(old);
  b.poll(old);
  EXPECT_EQ(b.poll(old).workers, 2U);
}

TEST(ThroughputStep, ASizeThatNeverComesIsAskedForLessAndLessOften) {
  throughput policy({});
  unsigned wanted = policy.start(2);
  time_point now{};
  int asked = 0;
  for (int second = 0; second < 600; ++second) {
    const unsigned size = std::min(wanted, 8U);  // more threads are not to be had
    now += 1s;
    const sizing s = policy.poll({.wall = 1s,
                                  .cpu = 10ms * size,
                                  .completed = size * std::uint64_t{10},
                                  .waiting = 100,
                                  .workers = size,
                                  .usable_cpus = 2},
                                 now);
    asked += s.workers > 8 && s.workers != wanted ? 1 : 0;
    wanted = s.workers;
  }
  EXPECT_LE(asked, 15);
}

TEST(ThroughputStep, WindowsThatMakeNoSenseDoNoHarm) {
  throughput policy({.min = 1, .max = 8});
  policy.start(2);
  time_point now{};
  const double odd[] = {0, -1, 1e300, std::numeric_limits<double>::quiet_NaN()};
  for (const double cpus : odd) {
    for (const nanoseconds wall :
         {nanoseconds(0), nanoseconds(-1), nanoseconds(1), nanoseconds(1h)}) {
      for (const std::uint64_t completed : {std::uint64_t{0}, std::uint64_t{1} << 60U}) {
        now += 10s;
        const sizing s = policy.poll({.wall = wall,
                                      .cpu = -1h,
                                      .completed = completed,
                                      .waiting = 1,
                                      .workers = 2,
                                      .usable_cpus = cpus,
                                      .machine_cpu = cpus},
                                     now);
        EXPECT_GE(s.workers, 1U);
        EXPECT_LE(s.workers, 8U);
      }
    }
  }
}

TEST(ThroughputConfig, FieldsOutOfRangeAreRefusedByName) {
  const auto refusal = [](const throughput_config& config) -> std::string {
    try {
      const throughput policy(config);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({.min = 0}), HasSubstr("throughput_config.min is 0"));
  EXPECT_THAT(refusal({.min = 5, .max = 4}), HasSubstr("min is 5, and must be between 1 and 4"));
  EXPECT_THAT(refusal({.max = 0}), HasSubstr("max is 0, and must be between 1 and 1024"));
  EXPECT_THAT(refusal({.cpu_threshold = -1}), HasSubstr("cpu_threshold is -1 %"));
  EXPECT_THAT(refusal({.cpu_threshold = std::numeric_limits<double>::quiet_NaN()}),
              HasSubstr("between 0 and 100 %"));
  EXPECT_THAT(refusal({.reprobe = -1s}), HasSubstr("reprobe is -1000000000 ns"));
  EXPECT_EQ(refusal({}), "");
}

}  // namespace
