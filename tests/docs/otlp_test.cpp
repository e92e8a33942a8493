// The code of docs/guide/otlp.md.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>

#include <weft/io/hybrid.hpp>
#include <weft/metrics/metrics.hpp>
#include <weft/otlp/exporter.hpp>
#include <weft/otlp/json.hpp>
#include <weft/telemetry/trace.hpp>

using testing::HasSubstr;

namespace {

// [otlp-server]
struct server {
  explicit server(const weft::otlp_options& options) : exporter(options) {}
  ~server() { scheduler.shutdown(); }  // what runs ends, and with it its spans

  weft::otlp_exporter exporter;
  weft::trace trace;
  weft::otlp_entry spans = exporter.add(trace);
  weft::metrics metrics;
  weft::hybrid_scheduler scheduler;
  weft::trace_entry traced = trace.add("server", scheduler);
  weft::metrics_entry measured = metrics.add("server", scheduler);
  weft::otlp_entry numbers = exporter.add(metrics);
};
// [/otlp-server]

// Nobody listens there.
weft::otlp_options nowhere() {
  return {.endpoint = "http://127.0.0.1:1", .shutdown_timeout = std::chrono::milliseconds(0)};
}

TEST(OtlpGuide, EntriesAreMadeAfterWhatTheyAreAbout) {
  server s(nowhere());
  EXPECT_FALSE(s.exporter.flush(std::chrono::milliseconds(0)));
  EXPECT_GT(s.exporter.stats().points.waiting, 0U);
}

TEST(OtlpGuide, TheEnvironmentSaysWhere) {
  // [otlp-environment]
  auto options = weft::otlp_options::from_environment();
  options.resource.push_back({"deployment.environment.name", "test"});
  options.on_error = [](const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
  };
  weft::otlp_exporter exporter(options);
  // [/otlp-environment]
  EXPECT_EQ(exporter.stats().last_error, "");
}

TEST(OtlpGuide, DocumentsAreForOtherWaysToo) {
  weft::trace trace;
  weft::metrics metrics;
  weft::hybrid_scheduler hs;
  const auto entry = metrics.add("server", hs);
  // [otlp-documents]
  const weft::otlp::resource shop{.service_name = "shop"};
  const std::string spans = weft::otlp::spans_json(trace.take_spans(), shop);
  const std::string numbers =
      weft::otlp::metrics_json(metrics.read(), std::chrono::system_clock::now(), shop);
  // [/otlp-documents]
  EXPECT_THAT(spans, HasSubstr("resourceSpans"));
  EXPECT_THAT(numbers, HasSubstr("hybrid.tasks.live"));
}

}  // namespace
