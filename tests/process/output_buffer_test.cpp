#include "process/output_buffer.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <support/property.hpp>

namespace weft::process {
namespace {

captured_output capture(std::size_t head, std::size_t tail, const std::vector<std::string>& parts) {
  output_buffer buffer(head, tail);
  for (const std::string& part : parts) buffer.append(part);
  return std::move(buffer).take();
}

TEST(OutputBuffer, KeepsWhatFitsInOnePiece) {
  const captured_output output = capture(4, 4, {"abc", "def", "gh"});
  EXPECT_EQ(output.head, "abcdefgh");
  EXPECT_EQ(output.tail, "");
  EXPECT_EQ(output.dropped, 0U);
  EXPECT_EQ(output.text(), "abcdefgh");
}

TEST(OutputBuffer, DropsTheMiddle) {
  const captured_output output = capture(4, 4, {"abcdefgh", "i"});
  EXPECT_EQ(output.head, "abcd");
  EXPECT_EQ(output.tail, "fghi");
  EXPECT_EQ(output.dropped, 1U);
}

TEST(OutputBuffer, WithoutRoomItOnlyCounts) {
  const captured_output output = capture(0, 0, {"abc", "de"});
  EXPECT_EQ(output.head + output.tail, "");
  EXPECT_EQ(output.dropped, 5U);
  EXPECT_EQ(output.text(), "[... 5 bytes left out ...]\n");
}

TEST(OutputBuffer, TextSaysOnALineOfItsOwnHowMuchIsMissing) {
  EXPECT_EQ(capture(2, 2, {"abcdef"}).text(), "ab\n[... 2 bytes left out ...]\nef");
  EXPECT_EQ(capture(2, 2, {"a\ncdef"}).text(), "a\n[... 2 bytes left out ...]\nef");
}

TEST(OutputBuffer, IsTheBeginningAndTheEndOfWhateverCameInWhateverPieces) {
  EXPECT_TRUE(test::holds("head and tail", [](const std::vector<std::string>& parts) {
    const auto head = *rc::gen::inRange<std::size_t>(0, 40);
    const auto tail = *rc::gen::inRange<std::size_t>(0, 40);
    std::string whole;
    for (const std::string& part : parts) whole += part;
    const captured_output output = capture(head, tail, parts);
    if (whole.size() <= head + tail) {
      RC_ASSERT(output.head == whole);
      RC_ASSERT(output.tail.empty());
      RC_ASSERT(output.dropped == 0U);
    } else {
      RC_ASSERT(output.head == whole.substr(0, head));
      RC_ASSERT(output.tail == whole.substr(whole.size() - tail));
      RC_ASSERT(output.dropped == whole.size() - head - tail);
    }
  }));
}

}  // namespace
}  // namespace weft::process
