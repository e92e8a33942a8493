#include <weft/otlp/json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <weft/telemetry/schema.hpp>
#include <weft/version.hpp>

using testing::HasSubstr;
using namespace std::chrono_literals;

namespace {

namespace metric = weft::telemetry::metric;
using nlohmann::json;
using weft::otlp::metrics_json;
using weft::otlp::spans_json;
using weft::telemetry::metric_point;
using weft::telemetry::metric_values;
using weft::telemetry::span;
using time_point = std::chrono::sys_time<std::chrono::nanoseconds>;

time_point at(std::int64_t nanoseconds) {
  return time_point(std::chrono::nanoseconds(nanoseconds));
}

span one_span() {
  return {.trace = {.high = 0x0123456789ABCDEF, .low = 0xF},
          .id = {.value = 0xABC},
          .parent = {.value = 1},
          .name = "checkout",
          .begin = at(1'700'000'000'000'000'001),
          .end = at(1'700'000'000'000'000'002),
          .attributes = {}};
}

json span_json(const span& s) {
  return json::parse(
      spans_json(std::array{s}, {}))["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
}

json metric_json(const metric_values& v, time_point now = at(50)) {
  return json::parse(
      metrics_json(std::array{v}, now, {}))["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
}

TEST(OtlpSpans, AreWrittenAsTheProtocolHasThem) {
  const json s = span_json(one_span());
  EXPECT_EQ(s, json::parse(R"({
    "traceId": "0123456789abcdef000000000000000f",
    "spanId": "0000000000000abc",
    "parentSpanId": "0000000000000001",
    "name": "checkout",
    "kind": 1,
    "startTimeUnixNano": "1700000000000000001",
    "endTimeUnixNano": "1700000000000000002",
    "attributes": []
  })"));
}

TEST(OtlpSpans, TellOfWhichProgramTheyAre) {
  const json body = json::parse(
      spans_json(std::array{one_span()},
                 {.service_name = "shop", .attributes = {{.name = "region", .value = "north"}}}));
  EXPECT_EQ(body["resourceSpans"][0]["resource"]["attributes"],
            json::parse(R"([{"key": "service.name", "value": {"stringValue": "shop"}},
                 {"key": "telemetry.sdk.name", "value": {"stringValue": "weft"}},
                 {"key": "telemetry.sdk.language", "value": {"stringValue": "cpp"}},
                 {"key": "telemetry.sdk.version", "value": {"stringValue": ")" WEFT_VERSION R"("}},
                 {"key": "region", "value": {"stringValue": "north"}}])"));
  EXPECT_EQ(body["resourceSpans"][0]["scopeSpans"][0]["scope"],
            json::parse(R"({"name": "weft", "version": ")" WEFT_VERSION R"("})"));
}

TEST(OtlpSpans, WithoutAParentSayNothingOfIt) {
  span s = one_span();
  s.parent = {};
  EXPECT_FALSE(span_json(s).contains("parentSpanId"));
}

TEST(OtlpSpans, HaveAttributesOfEveryType) {
  span s = one_span();
  s.attributes = {{"text", std::string("a \"b\"")},
                  {"whole", std::int64_t{-9'007'199'254'740'993}},
                  {"real", 0.1},
                  {"truth", true}};
  EXPECT_EQ(span_json(s)["attributes"],
            json::parse(R"([{"key": "text", "value": {"stringValue": "a \"b\""}},
                            {"key": "whole", "value": {"intValue": "-9007199254740993"}},
                            {"key": "real", "value": {"doubleValue": 0.1}},
                            {"key": "truth", "value": {"boolValue": true}}])"));
}

TEST(OtlpSpans, NumbersThatAreNotFiniteAreWords) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  span s = one_span();
  s.attributes = {{"a", std::nan("")}, {"b", infinity}, {"c", -infinity}};
  const json attributes = span_json(s)["attributes"];
  EXPECT_EQ(attributes[0]["value"]["doubleValue"], "NaN");
  EXPECT_EQ(attributes[1]["value"]["doubleValue"], "Infinity");
  EXPECT_EQ(attributes[2]["value"]["doubleValue"], "-Infinity");
}

TEST(OtlpSpans, TextThatIsNotUtf8IsMended) {
  span s = one_span();
  s.name = "a\xff\x01\n";
  s.attributes = {{"k\xc3", std::string("\xed\xa0\x80")}};
  EXPECT_EQ(span_json(s)["name"], "a\xEF\xBF\xBD\x01\n");
  EXPECT_EQ(span_json(s)["attributes"][0]["key"], "k\xEF\xBF\xBD");
}

TEST(OtlpSpans, TimesThatCannotBeAreMended) {
  span s = one_span();
  s.begin = at(-5);
  s.end = at(-9);
  EXPECT_EQ(span_json(s)["startTimeUnixNano"], "0");
  EXPECT_EQ(span_json(s)["endTimeUnixNano"], "0");
  s.begin = at(7);
  EXPECT_EQ(span_json(s)["endTimeUnixNano"], "7") << "not before it begins";
}

TEST(OtlpSpans, WithoutIdsAreLeftOut) {
  span without_trace = one_span();
  without_trace.trace = {};
  span without_id = one_span();
  without_id.id = {};
  const json body = json::parse(spans_json(std::array{without_trace, one_span(), without_id}, {}));
  EXPECT_EQ(body["resourceSpans"][0]["scopeSpans"][0]["spans"].size(), 1U);
}

TEST(OtlpSpans, OfNothingAreADocument) {
  const json body = json::parse(spans_json({}, {}));
  EXPECT_EQ(body["resourceSpans"][0]["scopeSpans"][0]["spans"], json::array());
}

TEST(OtlpMetrics, CountersOnlyGrow) {
  const json m = metric_json({.metric = &metric::scheduler_tasks_spawned,
                              .points = {{.attributes = {{"scheduler.name", "main"}},
                                          .since = at(10),
                                          .value = std::int64_t{1'000'000'000'000}}}});
  EXPECT_EQ(m, json::parse(R"({
    "name": "scheduler.tasks.spawned",
    "description": "Tasks spawned or submitted.",
    "unit": "{task}",
    "sum": {
      "aggregationTemporality": 2,
      "isMonotonic": true,
      "dataPoints": [{
        "attributes": [{"key": "scheduler.name", "value": {"stringValue": "main"}}],
        "startTimeUnixNano": "10",
        "timeUnixNano": "50",
        "asInt": "1000000000000"
      }]
    }
  })"));
}

TEST(OtlpMetrics, UpDownCountersGoBothWays) {
  const json m =
      metric_json({.metric = &metric::scheduler_tasks_queued,
                   .points = {{.attributes = {}, .since = at(10), .value = std::int64_t{-3}}}});
  EXPECT_EQ(m["sum"]["isMonotonic"], false);
  EXPECT_EQ(m["sum"]["aggregationTemporality"], 2);
  EXPECT_EQ(m["sum"]["dataPoints"][0]["asInt"], "-3");
}

TEST(OtlpMetrics, GaugesAreOfAMoment) {
  const json m = metric_json({.metric = &metric::policy_score,
                              .points = {{.attributes = {}, .since = at(10), .value = 66.5}}});
  EXPECT_EQ(m["gauge"]["dataPoints"][0]["asDouble"], 66.5);
  EXPECT_FALSE(m["gauge"].contains("aggregationTemporality"));
  EXPECT_FALSE(m["gauge"]["dataPoints"][0].contains("startTimeUnixNano"));
}

TEST(OtlpMetrics, HistogramsHaveABucketMoreThanBounds) {
  const json m =
      metric_json({.metric = &metric::scheduler_task_schedule_latency,
                   .points = {{.attributes = {},
                               .since = at(10),
                               .value = weft::telemetry::metric_histogram{
                                   .bounds = {0.001, 10}, .counts = {4, 0, 1}, .sum = 12.5}}}});
  EXPECT_EQ(m["unit"], "s");
  EXPECT_EQ(m["histogram"], json::parse(R"({
    "aggregationTemporality": 2,
    "dataPoints": [{
      "attributes": [],
      "startTimeUnixNano": "10",
      "timeUnixNano": "50",
      "count": "5",
      "sum": 12.5,
      "bucketCounts": ["4", "0", "1"],
      "explicitBounds": [0.001, 10.0]
    }]
  })"));
}

TEST(OtlpMetrics, DoNotBeginAfterTheyWereRead) {
  const metric_values v{.metric = &metric::scheduler_tasks_spawned,
                        .points = {{.attributes = {}, .since = at(90), .value = std::int64_t{1}}}};
  EXPECT_EQ(metric_json(v)["sum"]["dataPoints"][0]["startTimeUnixNano"], "50");
}

TEST(OtlpMetrics, NumbersThatAreNotFiniteAreWords) {
  const metric_values v{.metric = &metric::policy_score,
                        .points = {{.attributes = {}, .since = at(1), .value = std::nan("")}}};
  EXPECT_EQ(metric_json(v)["gauge"]["dataPoints"][0]["asDouble"], "NaN");
}

TEST(OtlpMetrics, EveryMetricOfTheSchemaHasOneKindOfData) {
  for (const weft::telemetry::metric_schema* m : metric::all) {
    const json written = metric_json({.metric = m, .points = {}});
    EXPECT_EQ(written.contains("sum") + written.contains("gauge") + written.contains("histogram"),
              1)
        << m->name;
    EXPECT_EQ(written["unit"], m->unit);
  }
}

}  // namespace
