#include <weft/base/units.hpp>

#include <gtest/gtest.h>

namespace weft {
namespace {

using namespace std::chrono_literals;

TEST(Units, DurationsAreReadWithTheirUnits) {
  EXPECT_EQ(parse_duration("30s"), 30s);
  EXPECT_EQ(parse_duration("1.5 s"), 1500ms);
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("1 h 30 m"), 90min);
  EXPECT_EQ(parse_duration("2d"), 48h);
  EXPECT_EQ(parse_duration("7ns"), 7ns);
  EXPECT_EQ(parse_duration("0s"), 0s);
}

TEST(Units, WhatIsNoDurationIsRefused) {
  for (const char* text : {"", " ", "30", "s", "-1s", "+1s", "30x", "30sec", "1e9s", "nans", "infs",
                           "1h30", "99999999999999h", "3,5s", "0x10s", "1s;"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Units, SizesAreReadWithTheirUnits) {
  EXPECT_EQ(parse_size("512"), 512U);
  EXPECT_EQ(parse_size("64 KiB"), 65536U);
  EXPECT_EQ(parse_size("1.5GB"), 1'500'000'000U);
  EXPECT_EQ(parse_size("2G"), std::uint64_t{2} << 30U);
  EXPECT_EQ(parse_size("1TiB"), std::uint64_t{1} << 40U);
}

TEST(Units, WhatIsNoSizeIsRefused) {
  for (const char* text : {"", "x", "-1", "1 KB 2", "1XB", "99999999999TiB", "1.5.2K", "nan"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(Units, TimesAreWrittenWithThreeDigits) {
  EXPECT_EQ(format_duration(0), "0.00 us");
  EXPECT_EQ(format_duration(0.0000123), "12.3 us");
  EXPECT_EQ(format_duration(0.9994), "999 ms");
  EXPECT_EQ(format_duration(0.99999), "1.00 s");
  EXPECT_EQ(format_duration(12.345), "12.3 s");
  EXPECT_EQ(format_duration(125), "2 m 5 s");
  EXPECT_EQ(format_duration(3700), "1 h 1 m");
}

TEST(Units, SizesAreWrittenWithThreeDigits) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1536), "1.50 KiB");
  EXPECT_EQ(format_size(1048575), "1.00 MiB");
  EXPECT_EQ(format_size(~std::uint64_t{0}), "16.0 EiB");
}

}  // namespace
}  // namespace weft
