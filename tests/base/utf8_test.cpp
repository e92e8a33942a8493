#include <weft/base/utf8.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace weft::base {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, TheFirstAndLastCharacterOfEachLengthAreTaken) {
  for (const std::string_view text :
       {"\0"sv, "\x7f"sv, "\xc2\x80"sv, "\xdf\xbf"sv, "\xe0\xa0\x80"sv, "\xed\x9f\xbf"sv,
        "\xee\x80\x80"sv, "\xef\xbf\xbf"sv, "\xf0\x90\x80\x80"sv, "\xf4\x8f\xbf\xbf"sv}) {
    EXPECT_EQ(utf8_character(text), text.size()) << printable(text);
    EXPECT_TRUE(is_utf8(text)) << printable(text);
  }
}

TEST(Utf8, OverlongFormsSurrogatesCutAndStrayBytesAreRefused) {
  for (const std::string_view text :
       {"\x80"sv, "\xbf"sv, "\xc0\x80"sv, "\xc1\xbf"sv, "\xc2"sv, "\xc2\x41"sv, "\xe0\x9f\xbf"sv,
        "\xed\xa0\x80"sv, "\xe2\x82"sv, "\xe2\x82\x41"sv, "\xf0\x8f\xbf\xbf"sv,
        "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv, "\xf0\x9f\x98"sv, "\xff"sv}) {
    EXPECT_EQ(utf8_character(text), 0U) << printable(text);
    EXPECT_FALSE(is_utf8(text)) << printable(text);
  }
  EXPECT_FALSE(is_utf8("fine\xffnot"));
  EXPECT_TRUE(is_utf8(""));
}

TEST(Utf8, PrintableKeepsTextAndEscapesWhatWouldMoveATerminal) {
  EXPECT_EQ(printable("rule-1 \"größe\" 😀"), "rule-1 \"größe\" 😀");
  EXPECT_EQ(printable("\x1b[2J\r\n\0\x7f"sv), "\\x1b[2J\\r\\n\\x00\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(printable("a\xff\xc3z"), "a\\xff\\xc3z");
}

TEST(Utf8, BrokenBytesAreReplacedOneByOne) {
  EXPECT_EQ(valid_utf8("a\xFF\xC3\xA9\xC3"), "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD");
}

TEST(Utf8, ControlCharactersAreFound) {
  EXPECT_TRUE(has_control("a\nb"));
  EXPECT_TRUE(has_control("\x1B[31m"));
  EXPECT_TRUE(has_control("\x7F"));
  EXPECT_TRUE(
      has_control("\xC2\x9B"
                  "31m"));  // the one-byte escape of ISO 6429
  EXPECT_FALSE(has_control("caf\xC3\xA9"));
}

TEST(Utf8, PrintableLinesKeepTheirLines) {
  EXPECT_EQ(printable_lines("a\n\tb\r\x07"), "a\n\tb\\r\\x07");
}

}  // namespace
}  // namespace weft::base
