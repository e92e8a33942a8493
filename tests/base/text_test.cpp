#include <base/text.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Text, SplitsAtEverySeparator) {
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split("a,", ','), ElementsAre("a", ""));
}

TEST(Text, WordsStandBetweenAnyNumberOfBlanks) {
  EXPECT_THAT(words("  cpu   1\t2 \n"), ElementsAre("cpu", "1", "2"));
  EXPECT_THAT(words(" \n"), IsEmpty());
  EXPECT_THAT(words(""), IsEmpty());
}

TEST(Text, FirstLineEndsBeforeTheNewline) {
  EXPECT_EQ(first_line("a b\nc\n"), "a b");
  EXPECT_EQ(first_line("no end"), "no end");
  EXPECT_EQ(first_line(""), "");
}

TEST(Text, OnlyAWholeNumberIsANumber) {
  EXPECT_EQ(parse_whole<std::int64_t>("-12"), -12);
  EXPECT_EQ(parse_whole<std::uint64_t>("18446744073709551615"), 18446744073709551615U);
  for (const char* const text :
       {"", " 1", "1 ", "1e5", "0x1", "1.5", "x", "18446744073709551616"}) {
    EXPECT_EQ(parse_whole<std::uint64_t>(text), std::nullopt) << text;
  }
}

TEST(Text, OnlyAFiniteDecimalIsADecimal) {
  EXPECT_EQ(parse_decimal("12.40"), 12.40);
  EXPECT_EQ(parse_decimal("-3"), -3.0);
  for (const char* const text : {"", " 1", "1 ", "1e5", "nan", "inf", "1.5x"}) {
    EXPECT_EQ(parse_decimal(text), std::nullopt) << text;
  }
}

TEST(Text, TrailingSlashesAreCut) {
  EXPECT_EQ(without_trailing_slashes("/"), "");
  EXPECT_EQ(without_trailing_slashes("/a//"), "/a");
  EXPECT_EQ(without_trailing_slashes("/a/b"), "/a/b");
}

class TextFile : public ::testing::Test {
 protected:
  TextFile() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-text-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "cannot create " + name);
    }
    directory_ = name;
  }
  ~TextFile() override { std::filesystem::remove_all(directory_); }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }

  std::string directory_;
};

TEST_F(TextFile, IsReadWhole) {
  const std::string text(10'000, 'x');
  std::ofstream(path("long")) << text;
  std::error_code why;
  EXPECT_EQ(read_text(path("long"), &why), text);
  EXPECT_FALSE(why);
}

TEST_F(TextFile, IsReadByLine) {
  std::ofstream(path("lines")) << "one\ntwo\n";
  EXPECT_EQ(read_line(path("lines")), "one");
}

TEST_F(TextFile, ThatCannotBeReadIsEmptyAndSaysWhy) {
  std::error_code why;
  EXPECT_EQ(read_text(path("none"), &why), "");
  EXPECT_EQ(why, std::errc::no_such_file_or_directory);
  EXPECT_EQ(read_text(directory_, &why), "");
  EXPECT_EQ(why, std::errc::is_a_directory);
  EXPECT_EQ(read_text(path("none")), "");
}

TEST_F(TextFile, APipeInItsPlaceDoesNotBlock) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_text(path("pipe")), "");
}

}  // namespace
}  // namespace weft::base
