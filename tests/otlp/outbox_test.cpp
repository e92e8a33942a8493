#include "otlp/outbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using weft::otlp::outbox;
using weft::otlp::reading;
using weft::telemetry::span;

std::vector<span> spans(int first, int last) {
  std::vector<span> made;
  for (int i = first; i <= last; ++i) {
    span s;
    s.name = std::to_string(i);
    made.push_back(s);
  }
  return made;
}

std::string names(const std::vector<span>& of) {
  std::string text;
  for (const span& s : of) text += s.name + " ";
  return text;
}

reading of_source(std::uint64_t source, std::size_t points) {
  return {.source = source,
          .at = {},
          .values = {
              {.metric = nullptr, .points = std::vector<weft::telemetry::metric_point>(points)}}};
}

TEST(OtlpOutbox, GivesSpansOutInOrder) {
  outbox box(10);
  box.add(spans(1, 5));
  EXPECT_EQ(names(box.take_spans(3)), "1 2 3 ");
  EXPECT_EQ(box.spans().waiting, 5U) << "what is on its way counts";
  box.settle_spans(3, 0);
  EXPECT_EQ(names(box.take_spans(3)), "4 5 ");
  box.settle_spans(2, 9);
  EXPECT_EQ(box.spans().sent, 3U);
  EXPECT_EQ(box.spans().rejected, 2U) << "not more than there were";
  EXPECT_EQ(box.spans().waiting, 0U);
  EXPECT_EQ(names(box.take_spans(3)), "");
}

TEST(OtlpOutbox, DropsTheOldestSpans) {
  outbox box(4);
  box.add(spans(1, 3));
  box.add(spans(4, 5));
  EXPECT_EQ(box.spans().dropped, 1U);
  box.add(spans(6, 16));
  EXPECT_EQ(box.spans().dropped, 12U);
  EXPECT_EQ(names(box.take_spans(10)), "13 14 15 16 ");
}

TEST(OtlpOutbox, SpansThatComeBackAreTheOldest) {
  outbox box(4);
  box.add(spans(1, 4));
  auto taken = box.take_spans(3);
  box.add(spans(5, 6));
  box.give_back(std::move(taken));
  EXPECT_EQ(box.spans().dropped, 2U);
  EXPECT_EQ(box.spans().waiting, 4U);
  EXPECT_EQ(names(box.take_spans(10)), "3 4 5 6 ");
}

TEST(OtlpOutbox, KnowsWhenWhatWasThereHasLeft) {
  outbox box(10);
  EXPECT_TRUE(box.is_past(box.now()));
  box.add(spans(1, 2));
  const outbox::mark mark = box.now();
  box.add(spans(3, 4));
  static_cast<void>(box.take_spans(2));
  EXPECT_FALSE(box.is_past(mark)) << "they are on their way";
  box.settle_spans(2, 0);
  EXPECT_TRUE(box.is_past(mark));
  EXPECT_FALSE(box.is_past(box.now()));
  box.drop_everything();
  EXPECT_TRUE(box.is_past(box.now()));
  EXPECT_EQ(box.spans().dropped, 2U);
}

TEST(OtlpOutbox, ANewerReadingTakesThePlaceOfTheOneThatWaits) {
  outbox box(10);
  box.add(of_source(1, 3));
  const outbox::mark mark = box.now();
  box.add(of_source(1, 5));
  EXPECT_EQ(box.points().waiting, 5U);
  EXPECT_EQ(box.points().dropped, 0U);
  EXPECT_FALSE(box.is_past(mark)) << "it stands for the older one";
  const auto taken = box.take_reading();
  ASSERT_TRUE(taken.has_value());
  EXPECT_FALSE(box.is_past(mark));
  EXPECT_EQ(box.points().waiting, 5U);
  box.settle_reading(*taken, 1);
  EXPECT_TRUE(box.is_past(mark));
  EXPECT_EQ(box.points().sent, 4U);
  EXPECT_EQ(box.points().rejected, 1U);
  EXPECT_FALSE(box.take_reading().has_value());
}

TEST(OtlpOutbox, AReadingThatComesBackGivesWayToANewerOne) {
  outbox box(10);
  box.add(of_source(1, 3));
  const outbox::mark mark = box.now();
  auto taken = box.take_reading();
  box.add(of_source(1, 5));
  box.give_back(*std::move(taken));
  EXPECT_EQ(box.points().waiting, 5U);
  EXPECT_FALSE(box.is_past(mark)) << "what was there at the mark is not sent";

  taken = box.take_reading();
  box.give_back(*std::move(taken));
  EXPECT_EQ(box.points().waiting, 5U) << "nothing newer has come";
}

TEST(OtlpOutbox, HasABoundOfReadings) {
  outbox box(10);
  for (std::uint64_t i = 1; i <= outbox::readings_max + 3; ++i) box.add(of_source(i, 2));
  EXPECT_EQ(box.points().waiting, 2 * outbox::readings_max);
  EXPECT_EQ(box.points().dropped, 6U);
  EXPECT_EQ(box.take_reading()->source, 4U);
}

TEST(OtlpOutbox, GivesReadingsOutInTurn) {
  outbox box(10);
  box.add(of_source(1, 2));
  box.add(of_source(2, 2));
  const auto first = box.take_reading();
  box.settle_reading(*first, 0);
  box.add(of_source(1, 2));
  EXPECT_EQ(box.take_reading()->source, 2U);
}

TEST(OtlpOutbox, CountsWhatIsLostOnTheWay) {
  outbox box(10);
  box.add(spans(1, 2));
  box.add(of_source(1, 3));
  static_cast<void>(box.take_spans(2));
  static_cast<void>(box.take_reading());
  box.drop_taken();
  EXPECT_EQ(box.spans().dropped, 2U);
  EXPECT_EQ(box.points().dropped, 3U);
  EXPECT_EQ(box.spans().waiting + box.points().waiting, 0U);
  EXPECT_TRUE(box.is_past(box.now()));
}

}  // namespace
