#include <weft/base/assert.hpp>

#include <gtest/gtest.h>

namespace {

TEST(Assert, TrueConditionIsEvaluatedOnceAndContinues) {
  int evaluations = 0;
  WEFT_ASSERT(++evaluations == 1, "evaluate the condition once");
  EXPECT_EQ(evaluations, 1);
}

TEST(AssertDeathTest, FalseConditionPrintsPlaceExpressionAndAdviceThenAborts) {
  const int workers = 0;
  EXPECT_EXIT(
      WEFT_ASSERT(workers > 0, "ask for at least one worker"), testing::KilledBySignal(SIGABRT),
      "assert_test\\.cpp:[0-9]+: weft: assertion failed: workers > 0\n  ask for at least one");
}

TEST(Assert, IsAnExpressionThatFitsBesideAnother) {
  const auto half = [](int n) { return WEFT_ASSERT(n % 2 == 0, "pass an even number"), n / 2; };
  EXPECT_EQ(half(8), 4);
}

}  // namespace
