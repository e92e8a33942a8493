#include <weft/telemetry/trace_writer.hpp>

#include <array>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::telemetry {
namespace {

using ::testing::HasSubstr;

// The document that `write` makes.
template <class Write>
std::string traced(Write write) {
  std::string text;
  {
    trace_writer writer(text);
    write(writer);
  }
  return text;
}

std::string in_document(const std::string& events) {
  return R"({"displayTimeUnit":"ms","traceEvents":[)" + events + "\n]}\n";
}

TEST(TraceWriter, ATraceOfNothingIsADocument) {
  EXPECT_EQ(traced([](trace_writer&) {}), in_document(""));
}

TEST(TraceWriter, EveryKindOfEventHasTheFieldsOfTheFormat) {
  const std::string text = traced([](trace_writer& to) {
    to.name_process(1, "plan");
    to.name_track({.thread = 2}, "worker 1", 7);
    to.slice({.thread = 2}, "a", "rule", 0.5, 0.25, std::array{trace_argument{"n", 3L}});
    to.instant({.thread = 2}, "now", "mark", 1);
    to.counter(1, "rules", 0,
               std::array{trace_argument{"ready", 2L}, trace_argument{"running", 1L}});
    to.arrow("after", "dependency", {.thread = 1}, 0.25, {.thread = 2}, 0.5);
  });
  EXPECT_EQ(text, in_document(R"(
{"ph":"M","name":"process_name","pid":1,"args":{"name":"plan"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"worker 1"}},
{"ph":"M","name":"thread_sort_index","pid":1,"tid":2,"args":{"sort_index":7}},
{"ph":"X","name":"a","cat":"rule","pid":1,"tid":2,"ts":500000.000,"dur":250000.000,"args":{"n":3}},
{"ph":"i","name":"now","cat":"mark","pid":1,"tid":2,"ts":1000000.000,"s":"t","args":{}},
{"ph":"C","name":"rules","pid":1,"ts":0.000,"args":{"ready":2,"running":1}},
{"ph":"s","name":"after","cat":"dependency","id":1,"pid":1,"tid":1,"ts":250000.000},
{"ph":"f","name":"after","cat":"dependency","id":1,"pid":1,"tid":2,"ts":500000.000,"bp":"e"})"));
}

TEST(TraceWriter, ArgumentsKeepTheirType) {
  const std::string text = traced([](trace_writer& to) {
    to.instant(
        {}, "i", "c", 0,
        std::array{trace_argument{"text", "t"}, trace_argument{"half", 0.5},
                   trace_argument{"big", std::int64_t{1} << 62U}, trace_argument{"yes", true},
                   trace_argument{"none", std::numeric_limits<double>::infinity()}});
  });
  EXPECT_THAT(text, HasSubstr(R"({"text":"t","half":0.5,"big":4611686018427387904,)"
                              R"("yes":true,"none":null})"));
}

TEST(TraceWriter, EveryArrowHasItsOwnNumber) {
  const std::string text = traced([](trace_writer& to) {
    to.arrow("x", "c", {}, 0, {}, 1);
    to.arrow("x", "c", {}, 0, {}, 1);
  });
  EXPECT_THAT(text, HasSubstr(R"("id":1,)"));
  EXPECT_THAT(text, HasSubstr(R"("id":2,)"));
}

TEST(TraceWriter, SlicesThatTouchDoNotOverlapAfterRounding) {
  // Rounded by itself, the duration would reach a nanosecond into the next slice.
  const std::string text = traced([](trace_writer& to) {
    to.slice({}, "a", "c", 0.0000000004, 0.000000001);
    to.slice({}, "b", "c", 0.0000000014, 0.000000001);
  });
  EXPECT_THAT(text, HasSubstr(R"("ts":0.000,"dur":0.001)"));
  EXPECT_THAT(text, HasSubstr(R"("ts":0.001,"dur":0.001)"));
}

TEST(TraceWriter, TextThatIsNoUtf8OrHasQuotesAndControlsIsStillJson) {
  const std::string text =
      traced([](trace_writer& to) { to.instant({}, "\xff\"\\\n\x1b", "c", 0); });
  EXPECT_THAT(text, HasSubstr("\"name\":\"\xEF\xBF\xBD\\\"\\\\\\n\\u001b\""));
}

TEST(TraceWriter, TimesThatNoTraceHasAreStillNumbers) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::string text = traced([&](trace_writer& to) {
    to.slice({}, "a", "c", none, 1);
    to.slice({}, "b", "c", 1, -1);
    to.slice({}, "c", "c", 1e300, 1e300);
    to.instant({}, "d", "c", -0.0000005);
  });
  EXPECT_THAT(text, HasSubstr(R"("ts":0.000,"dur":0.000)"));
  EXPECT_THAT(text, HasSubstr(R"("ts":1000000.000,"dur":0.000)"));
  EXPECT_THAT(text, HasSubstr(R"("ts":9000000000000000.000,"dur":0.000)"));
  EXPECT_THAT(text, HasSubstr(R"("ts":-0.500)"));
}

}  // namespace
}  // namespace weft::telemetry
