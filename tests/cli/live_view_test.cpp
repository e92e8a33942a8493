#include "live_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "show.hpp"

namespace weft::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

live_state half_way() {
  return {.total = 384,
          .ended = 192,
          .failed = 1,
          .workers = 8,
          .now = 12.34,
          .remaining = 3.21,
          .running = {{.worker = 0, .id = "compile", .elapsed = 0.5, .predicted = 2},
                      {.worker = 3,
                       .id = "integration tests against the staging database",
                       .elapsed = 7,
                       .predicted = 1.5},
                      {.worker = 7, .id = "日本語", .elapsed = 61, .predicted = 0.02}}};
}

std::vector<std::string> texts(const live_state& state, const terminal& look) {
  std::vector<std::string> made;
  for (const screen_line& line : live_lines(state, look)) made.push_back(line.text);
  return made;
}

TEST(LiveView, FitsEightyColumns) {
  EXPECT_THAT(
      texts(half_way(), {.columns = 80}),
      ElementsAre("======------  192/384  1 failed  3 running  12.3 s  about 3.2 s left  t: status",
                  "  0  compile                                           0.5 s / 2.00 s",
                  "  3  integration tests against the staging database    7.0 s / 1.50 s",
                  "  7  日本語                                            61.0 s / 20.0 ms"));
}

TEST(LiveView, LeavesOutWhatMattersLessAtFortyColumns) {
  EXPECT_THAT(
      texts(half_way(), {.columns = 40}),
      ElementsAre("192/384  1 failed  about 3.2 s left", "  0  compile             0.5 s / 2.00 s",
                  "  3  integration test..  7.0 s / 1.50 s",
                  "  7  日本語            61.0 s / 20.0 ms"));
}

TEST(LiveView, HasABarOfFortyColumnsAtMost) {
  EXPECT_THAT(
      texts(half_way(), {.columns = 200, .unicode = true}).front(),
      "━━━━━━━━━━━━━━━━━━━━────────────────────  192/384  1 failed  3 running  12.3 s  about "
      "3.2 s left  t: status");
}

TEST(LiveView, NoLineReachesTheLastColumn) {
  for (unsigned columns = 12; columns < 130; ++columns) {
    for (const screen_line& line : live_lines(half_way(), {.columns = columns, .unicode = true})) {
      EXPECT_LT(line.width, columns);
      EXPECT_EQ(line.width, width_of(line.text)) << line.text;
    }
  }
}

TEST(LiveView, WidthsDoNotCountColours) {
  const auto plain = live_lines(half_way(), {.columns = 60});
  const auto coloured = live_lines(half_way(), {.columns = 60, .colour = true});
  ASSERT_EQ(plain.size(), coloured.size());
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(plain[i].width, coloured[i].width);
  EXPECT_THAT(coloured[0].text, HasSubstr("\x1b[31m1 failed\x1b[0m"));
  EXPECT_THAT(coloured[2].text, HasSubstr("\x1b[33m"));  // four times as long as expected
  EXPECT_THAT(coloured[1].text, Not(HasSubstr("\x1b[33m")));
}

TEST(LiveView, WithMoreWorkersThanRowsTheRulesThatRunLongestAreShown) {
  live_state state = half_way();
  state.workers = 100;
  state.running.clear();
  for (unsigned i = 0; i < 100; ++i) {
    state.running.push_back({i, "r" + std::to_string(i), i == 42 ? 9.0 : 1.0, 1.0});
  }
  const auto lines = texts(state, {.columns = 60, .rows = 6});
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[3], HasSubstr("r42"));
  EXPECT_EQ(lines[4], "      and 97 more");
  EXPECT_EQ(texts(state, {.columns = 60, .rows = 2}).size(), 1U);
  EXPECT_THAT(status_text(state, {.columns = 60, .rows = 2}), HasSubstr("r42"));
}

TEST(LiveView, ARuleOfWhichNothingIsKnownIsNeverLate) {
  const live_state state = {.total = 1, .running = {{.id = "new", .elapsed = 99}}};
  const auto lines = texts(state, {.columns = 40, .colour = true});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], HasSubstr("  99.0 s\x1b[0m"));
  EXPECT_THAT(lines[1], Not(HasSubstr("\x1b[33m")));
}

TEST(LiveView, BeforeAnythingHasRunThereIsALine) {
  EXPECT_THAT(texts({.total = 3, .workers = 2}, {.columns = 40}),
              ElementsAre("0/3  0 running  0.0 s  t: status"));
}

TEST(Widths, AreThoseOfATerminal) {
  EXPECT_EQ(width_of("abc"), 3U);
  EXPECT_EQ(width_of("Größe"), 5U);
  EXPECT_EQ(width_of("日本"), 4U);
  EXPECT_EQ(width_of("🎉"), 2U);
  EXPECT_EQ(width_of("✅⚡🟢🪵"), 8U);
  EXPECT_EQ(width_of("✓→"), 2U);
  EXPECT_EQ(width_of("e\u0301"), 1U);
  EXPECT_EQ(width_of("\xFF\xFE"), 2U);
  EXPECT_EQ(fitted("日本", 3), "日 ");
  EXPECT_EQ(shortened("abcdefgh", 6), "abcd..");
  EXPECT_EQ(wrapped("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(wrapped("incomprehensible word", 4, 1), "incomprehensible\n word");
}

}  // namespace
}  // namespace weft::cli
