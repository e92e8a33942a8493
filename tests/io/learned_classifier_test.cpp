#include <weft/io/learned_classifier.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <support/property.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;

constexpr learned_classifier_options defaults{};

learned_state measured(nanoseconds wall, nanoseconds cpu, std::optional<lane_kind> before = {}) {
  learned_state state;
  state.samples = defaults.samples_needed;
  state.wall.mean = static_cast<double>(wall.count());
  state.cpu.mean = static_cast<double>(cpu.count());
  state.lane = before;
  return state;
}

// --- Decisions -----------------------------------------------------------------------------------

struct decision_case {
  const char* name;
  task_kind kind;
  nanoseconds wall;
  nanoseconds cpu;
  std::optional<lane_kind> before;
  lane_kind lane;
  classification_reason reason;
  bool kept;
};

void PrintTo(const decision_case& which, std::ostream* out) { *out << which.name; }

class Decision : public ::testing::TestWithParam<decision_case> {};

TEST_P(Decision, IsAsTheTableSays) {
  const decision_case& c = GetParam();
  const classification decided = decide(measured(c.wall, c.cpu, c.before), {"x", c.kind}, defaults);
  EXPECT_EQ(decided.lane, c.lane);
  EXPECT_EQ(decided.reason, c.reason);
  EXPECT_EQ(decided.kept, c.kept);
}

constexpr auto coroutine = task_kind::coroutine;
constexpr auto function = task_kind::function;
using enum lane_kind;
using enum classification_reason;

INSTANTIATE_TEST_SUITE_P(
    Table, Decision,
    ::testing::Values(
        // A coroutine is judged by the CPU time of its stretches.
        decision_case{"short", coroutine, 5us, 5us, {}, io, computes_little, false},
        decision_case{"at the limit", coroutine, 50us, 50us, {}, io, computes_little, false},
        decision_case{"above it", coroutine, 51us, 51us, {}, cpu, computes_long, false},
        decision_case{"held without CPU", coroutine, 9ms, 5us, {}, io, computes_little, false},
        decision_case{"io, little above", coroutine, 1ms, 62us, io, io, computes_little, true},
        decision_case{"io, clearly above", coroutine, 1ms, 63us, io, cpu, computes_long, false},
        decision_case{"cpu, little below", coroutine, 1ms, 41us, cpu, cpu, computes_long, true},
        decision_case{"cpu, clearly below", coroutine, 1ms, 39us, cpu, io, computes_little, false},
        decision_case{"cpu, as before", coroutine, 1ms, 55us, cpu, cpu, computes_long, false},
        // A function by its time and by how much of it was computing.
        decision_case{"short", function, 5us, 5us, {}, cpu, takes_little, false},
        decision_case{"short and asleep", function, 40us, 1us, {}, cpu, takes_little, false},
        decision_case{"computes", function, 2ms, 1900us, {}, cpu, computes, false},
        decision_case{"at the share", function, 2ms, 1ms, {}, cpu, computes, false},
        decision_case{"sleeps", function, 2ms, 900us, {}, blocking, sleeps, false},
        decision_case{"sleeps briefly", function, 51us, 1us, {}, blocking, sleeps, false},
        decision_case{"cpu, little below", function, 2ms, 810us, cpu, cpu, computes, true},
        decision_case{"cpu, clearly below", function, 2ms, 790us, cpu, blocking, sleeps, false},
        decision_case{"cpu, little longer", function, 60us, 1us, cpu, cpu, takes_little, true},
        decision_case{"blocking, share", function, 2ms, 1240us, blocking, blocking, sleeps, true},
        decision_case{"blocking, awake", function, 2ms, 1260us, blocking, cpu, computes, false},
        decision_case{"blocking, shorter", function, 41us, 1us, blocking, blocking, sleeps, true},
        decision_case{"blocking, short", function, 39us, 1us, blocking, cpu, takes_little, false},
        decision_case{"no time at all", function, 0ns, 0ns, {}, cpu, takes_little, false},
        decision_case{"more CPU than time", function, 1ms, 2ms, blocking, cpu, computes, false}));

TEST(Decision, GoesByKindUntilThereAreSamplesEnough) {
  learned_state state = measured(10ms, 1us);
  state.samples = defaults.samples_needed - 1;
  EXPECT_EQ(decide(state, {"x", function}, defaults).lane, cpu);
  EXPECT_EQ(decide(state, {"x", function}, defaults).reason, too_few_samples);
  EXPECT_EQ(decide(state, {"x", coroutine}, defaults).lane, io);
}

TEST(Decision, NothingIsBlockingWhenTheShareIsZero) {
  learned_classifier_options never = defaults;
  never.blocking_below = 0;
  EXPECT_EQ(decide(measured(1s, 0ns), {"x", function}, never).lane, cpu);
}

// --- Samples -------------------------------------------------------------------------------------

learned_state after(learned_state state, int count, nanoseconds wall, nanoseconds cpu_time,
                    task_kind kind = function) {
  for (int i = 0; i < count; ++i) {
    state = with_sample(state, {"x", kind, wall, cpu_time}, defaults);
  }
  return state;
}

TEST(Samples, AStallOfOneLeavesNoTraceWhereverItFalls) {
  for (int stalled = 0; stalled < 40; ++stalled) {
    learned_state state;
    for (int i = 0; i < 40; ++i) {
      const bool stalls = i == stalled;
      state = after(state, 1, stalls ? nanoseconds(10s) : 20us, stalls ? nanoseconds(1s) : 19us);
      if (i >= 2) {
        EXPECT_DOUBLE_EQ(state.wall.mean, 20'000) << stalled << ", " << i;
        EXPECT_DOUBLE_EQ(state.cpu.mean, 19'000) << stalled << ", " << i;
      }
    }
    EXPECT_EQ(state.lane, cpu);
  }
}

TEST(Samples, OneThatCostsNothingLeavesNoTraceEither) {
  learned_state state = after({}, 20, 2ms, 2ms, coroutine);
  EXPECT_EQ(state.lane, cpu);
  state = after(state, 1, 0ns, 0ns, coroutine);
  state = after(state, 1, 2ms, 2ms, coroutine);
  EXPECT_DOUBLE_EQ(state.cpu.mean, 2e6);
}

TEST(Samples, AChangeThatLastsIsBelieved) {
  learned_state state = after({}, 100, 5us, 5us, coroutine);
  ASSERT_EQ(state.lane, io);
  int needed = 0;
  while (state.lane != cpu && needed < 100) {
    state = after(state, 1, 200us, 200us, coroutine);
    ++needed;
  }
  EXPECT_GT(needed, 2);
  EXPECT_LT(needed, 10);
}

TEST(Samples, TaskThatSwingsAboutTheLimitStaysInItsLane) {
  learned_state state = after({}, 20, 45us, 45us, coroutine);
  ASSERT_EQ(state.lane, io);
  for (int i = 0; i < 200; ++i) {
    const auto time = i / 10 % 2 == 0 ? 60us : 42us;
    state = after(state, 1, time, time, coroutine);
    ASSERT_EQ(state.lane, io) << i;
  }
}

TEST(Samples, MeansStayWithinWhatWasMeasured) {
  EXPECT_TRUE(test::holds("mean", [] {
    const auto times = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 1 << 30)));
    learned_state state;
    for (const std::int64_t time : times)
      state = after(state, 1, nanoseconds(time), nanoseconds(time));
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    RC_ASSERT(state.samples == times.size());
    RC_ASSERT(state.wall.mean >= static_cast<double>(*least) - 1e-3);
    RC_ASSERT(state.wall.mean <= static_cast<double>(*most) + 1e-3);
  }));
}

TEST(Samples, TimesBelowZeroCountAsNone) {
  const learned_state state = after({}, 10, -5ms, nanoseconds::min());
  EXPECT_EQ(state.wall.mean, 0);
  EXPECT_EQ(state.cpu.mean, 0);
}

// --- The classifier ------------------------------------------------------------------------------

void teach(learned_classifier& pupil, const std::string& name, task_kind kind, nanoseconds wall,
           nanoseconds cpu_time, int count = 10) {
  for (int i = 0; i < count; ++i) pupil.learn({name, kind, wall, cpu_time});
}

TEST(LearnedClassifier, TellsNamesApart) {
  learned_classifier c;
  teach(c, "crunch", coroutine, 2ms, 2ms);
  teach(c, "read", function, 2ms, 10us);
  EXPECT_EQ(c.classify({"crunch", coroutine}), cpu);
  EXPECT_EQ(c.classify({"read", function}), blocking);
  EXPECT_EQ(c.classify({"other", coroutine}), io);
  EXPECT_EQ(c.classify({"other", function}), cpu);
}

TEST(LearnedClassifier, TellsKindsOfOneNameApart) {
  learned_classifier c;
  teach(c, "load", function, 5ms, 10us);
  teach(c, "load", coroutine, 5ms, 10us);
  EXPECT_EQ(c.classify({"load", function}), blocking);
  EXPECT_EQ(c.classify({"load", coroutine}), io);
  EXPECT_THAT(c.explain("load"), HasSubstr("load (coroutine): io lane; 10 samples"));
  EXPECT_THAT(c.explain("load"), HasSubstr("\nload (function): blocking lane; 10 samples"));
}

TEST(LearnedClassifier, WantsEverySampleAtFirstAndThenOneInSoMany) {
  learned_classifier c({.samples_needed = 3, .sample_every = 5});
  EXPECT_TRUE(c.wants_sample("x"));
  EXPECT_EQ(c.classify({"x", function}), cpu);
  std::vector<bool> wanted;
  for (int i = 0; i < 13; ++i) {
    wanted.push_back(c.wants_sample("x"));
    if (wanted.back()) c.learn({"x", function, 1ms, 1ms});
  }
  const std::vector<bool> expected = {true, true,  true,  false, false, false, false,
                                      true, false, false, false, false, true};
  EXPECT_EQ(wanted, expected);
}

TEST(LearnedClassifier, RemembersNoMoreNamesThanItMay) {
  learned_classifier c({.max_names = 2});
  teach(c, "a", function, 5ms, 1us);
  teach(c, "b", function, 5ms, 1us);
  teach(c, "c", function, 5ms, 1us);
  EXPECT_EQ(c.classify({"a", function}), blocking);
  EXPECT_EQ(c.classify({"c", function}), cpu);
  EXPECT_FALSE(c.wants_sample("c"));
  EXPECT_EQ(c.explain("c"),
            "c: not learned, because 2 other names are (learned_classifier_options::max_names); "
            "functions go to the cpu lane, coroutines to the io lane");
}

TEST(LearnedClassifier, ExplainsEveryDecision) {
  learned_classifier c;
  EXPECT_EQ(c.explain("thumb"),
            "thumb: never seen; functions go to the cpu lane, coroutines to the io lane");
  teach(c, "new", function, 1ms, 1ms, 1);
  EXPECT_EQ(c.explain("new"), "new: cpu lane as any function; 1 sample of the 8 needed");
  teach(c, "crunch", coroutine, 2ms, 1900us, 23);
  EXPECT_EQ(c.explain("crunch"),
            "crunch: cpu lane; 23 samples, 1.90 ms CPU in 2.00 ms at a time, above 50.0 us");
  teach(c, "relay", coroutine, 8us, 5us);
  EXPECT_EQ(
      c.explain("relay"),
      "relay: io lane; 10 samples, 5.00 us CPU in 8.00 us at a time, not above 50.0 us of CPU");
  teach(c, "resize", function, 2ms, 1900us);
  EXPECT_EQ(
      c.explain("resize"),
      "resize: cpu lane; 10 samples, 1.90 ms CPU in 2.00 ms at a time, computing for 95 % of it");
  teach(c, "read", function, 2ms, 100us);
  EXPECT_EQ(
      c.explain("read"),
      "read: blocking lane; 10 samples, 100 us CPU in 2.00 ms at a time, computing for 5 % of "
      "it, below 50 %");
  teach(c, "tiny", function, 3us, 3us);
  EXPECT_EQ(c.explain("tiny"),
            "tiny: cpu lane; 10 samples, 3.00 us CPU in 3.00 us at a time, not above 50.0 us");
  teach(c, "edge", coroutine, 45us, 45us);
  teach(c, "edge", coroutine, 55us, 55us, 60);
  EXPECT_THAT(c.explain("edge"), HasSubstr("kept there: too close to the limit to change lanes"));
  EXPECT_THAT(c.explain("a\nb"), HasSubstr("a\\nb: never seen"));
}

TEST(LearnedClassifier, ServesSeveralThreads) {
  learned_classifier c({.max_names = 8});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&c, t] {
      for (int i = 0; i < 500; ++i) {
        const std::string name = "task " + std::to_string((i + t) % 10);
        static_cast<void>(c.classify({name, function}));
        if (c.wants_sample(name)) c.learn({name, function, 5ms, 1us});
        EXPECT_FALSE(c.explain(name).empty());
      }
    });
  }
  threads.clear();
  int learned = 0;
  for (int i = 0; i < 10; ++i) {
    if (c.classify({"task " + std::to_string(i), function}) == blocking) ++learned;
  }
  EXPECT_EQ(learned, 8);
}

// --- Options -------------------------------------------------------------------------------------

struct bad_options {
  const char* message;
  learned_classifier_options options;
};

TEST(LearnedClassifierOptions, OutOfRangeAreRefusedWithFieldValueAndRange) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const bad_options cases[] = {
      {"offload_above is 0 ns, but must be between 1000 ns and 3600000000000 ns",
       {.offload_above = 0ns}},
      {"offload_above is -1 ns", {.offload_above = -1ns}},
      {"blocking_below is -0.1, but must be between 0 and 0.75", {.blocking_below = -0.1}},
      {"blocking_below is 0.8", {.blocking_below = 0.8}},
      {"blocking_below is nan", {.blocking_below = nan}},
      {"samples_needed is 2, but must be between 3 and 1000000", {.samples_needed = 2}},
      {"sample_every is 0, but must be between 1 and 1000000", {.sample_every = 0}},
      {"forget is 0, but must be between 0.001 and 1", {.forget = 0}},
      {"forget is 1.5", {.forget = 1.5}},
      {"max_names is 0, but must be between 1 and 1000000", {.max_names = 0}},
  };
  for (const bad_options& bad : cases) {
    try {
      const learned_classifier c(bad.options);
      ADD_FAILURE() << bad.message;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(),
                  HasSubstr(std::string("weft: learned_classifier_options::") + bad.message));
    }
  }
}

}  // namespace
}  // namespace weft
