#include <weft/flow/outcome.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Outcome, WithAValueGivesIt) {
  outcome<std::string> o(3, 2, "positive");
  EXPECT_EQ(o.kind(), outcome_kind::value);
  EXPECT_TRUE(o);
  EXPECT_EQ(o.index(), 3U);
  EXPECT_EQ(o.attempts(), 2U);
  EXPECT_EQ(o.value(), "positive");
  EXPECT_EQ(o.error(), nullptr);
}

TEST(Outcome, GivesValuesAwayThatCannotBeCopied) {
  outcome<std::unique_ptr<int>> o(0, 1, std::make_unique<int>(7));
  EXPECT_EQ(*std::move(o).value(), 7);
}

TEST(Outcome, OfVoidIsAMonostate) {
  outcome<void> o(0, 1, std::monostate{});
  EXPECT_EQ(o.value(), std::monostate{});
}

TEST(Outcome, WithAnErrorThrowsIt) {
  outcome<int> o(0, 1, std::make_exception_ptr(std::runtime_error("spilled")));
  EXPECT_FALSE(o);
  EXPECT_THAT([&] { static_cast<void>(o.value()); }, ThrowsMessage<std::runtime_error>("spilled"));
  EXPECT_NE(o.error(), nullptr);
}

TEST(Outcome, OfACancelledInstanceThrowsCancelledAndHasNoError) {
  const outcome<int> o(0, 0, outcome_kind::cancelled);
  EXPECT_THROW(static_cast<void>(o.value()), cancelled);
  EXPECT_EQ(o.error(), nullptr);
}

TEST(Outcome, ThatTimedOutSaysWhichInstanceAndWhen) {
  const outcome<int> late(4, 2, outcome_kind::timed_out);
  EXPECT_THAT(
      [&] { static_cast<void>(late.value()); },
      ThrowsMessage<timed_out>(HasSubstr("instance 4 took longer than it may, in attempt 2")));
  const outcome<int> never(5, 0, outcome_kind::timed_out);
  EXPECT_THAT([&] { static_cast<void>(never.value()); },
              ThrowsMessage<timed_out>(HasSubstr("instance 5 had not begun")));
}

TEST(Outcome, KindsHaveNamesForPeople) {
  EXPECT_EQ(to_string(outcome_kind::value), "value");
  EXPECT_EQ(to_string(outcome_kind::error), "error");
  EXPECT_EQ(to_string(outcome_kind::cancelled), "cancelled");
  EXPECT_EQ(to_string(outcome_kind::timed_out), "timed out");
}

}  // namespace
}  // namespace weft
