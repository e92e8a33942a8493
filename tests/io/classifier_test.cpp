#include <weft/io/classifier.hpp>

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace weft {
namespace {

using namespace std::chrono_literals;

TEST(KindClassifier, SendsCoroutinesToIoAndFunctionsToCpu) {
  kind_classifier by_kind;
  EXPECT_EQ(by_kind.classify({"fetch", task_kind::coroutine}), lane_kind::io);
  EXPECT_EQ(by_kind.classify({"resize", task_kind::function}), lane_kind::cpu);
}

TEST(KindClassifier, WantsNoSamplesAndDoesNotChangeByThem) {
  kind_classifier by_kind;
  EXPECT_FALSE(by_kind.wants_sample("read"));
  for (int i = 0; i < 100; ++i) by_kind.learn({"read", task_kind::function, 1s, 1us});
  EXPECT_EQ(by_kind.classify({"read", task_kind::function}), lane_kind::cpu);
}

TEST(KindClassifier, ExplainsItselfAndShowsNamesSafely) {
  EXPECT_EQ(kind_classifier().explain("a\x1b[2J"),
            "a\\x1b[2J: by kind; functions go to the cpu lane, coroutines to the io lane");
}

TEST(LaneKind, HasANameForEachLane) {
  EXPECT_EQ(to_string(lane_kind::cpu), "cpu");
  EXPECT_EQ(to_string(lane_kind::io), "io");
  EXPECT_EQ(to_string(lane_kind::blocking), "blocking");
}

}  // namespace
}  // namespace weft
