#include "telemetry/trace_event.hpp"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <weft/core/observer.hpp>
#include <weft/telemetry/trace.hpp>

namespace weft::telemetry {
namespace {

TEST(TraceEvent, KeepsTheLastPlaceThatThereMayBe) {
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  constexpr trace_place last{.lane = trace::lanes_max - 1,
                             .worker = std::uint16_t{observer::workers_max - 1}};
  for (const auto kind :
       {trace_event::kind::ran, trace_event::kind::withdrawn, trace_event::kind::trace}) {
    const trace_event made{
        .what = kind, .place = last, .name = most, .first = 1, .second = 2, .third = 3};
    const trace_event read = trace_event::unpack(made.pack());
    EXPECT_EQ(read.what, kind);
    EXPECT_EQ(read.place, last);
    EXPECT_EQ(read.name, most);
    EXPECT_EQ(read.first, 1U);
    EXPECT_EQ(read.second, 2U);
    EXPECT_EQ(read.third, 3U);
  }
}

}  // namespace
}  // namespace weft::telemetry
