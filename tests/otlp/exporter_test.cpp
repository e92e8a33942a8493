#include <weft/otlp/exporter.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include <weft/core/context.hpp>
#include <weft/core/pool.hpp>
#include <weft/metrics/metrics.hpp>
#include <weft/telemetry/trace.hpp>

#include <otlp/test_receiver.hpp>
#include <support/watchdog.hpp>

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;
using weft::test::received_request;
using weft::test::receiver_answer;
using weft::test::test_receiver;

// One that reads only when it is told to, and whose pauses are short.
weft::otlp_options options_for(const std::string& endpoint) {
  return {.endpoint = endpoint,
          .service_name = "shop",
          .interval = 1h,
          .timeout = 1h,
          .shutdown_timeout = 0ms,
          .backoff_first = 1ms,
          .backoff_max = 2ms};
}

// A trace in which contexts that end are spans.
class recorded {
 public:
  recorded() { trace_.start(); }
  void end_spans(int count, const std::string& name = "checkout") {
    for (int i = 0; i < count; ++i) {
      static_cast<void>(weft::context::new_trace(name + " " + std::to_string(i)));
    }
  }
  weft::trace& trace() { return trace_; }

 private:
  weft::trace trace_;
};

// Messages of an exporter, as they come.
class heard {
 public:
  void operator()(const std::string& message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
    changed_.notify_all();
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return messages_.size() >= count; });
    return messages_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> messages_;
};

std::vector<std::string> span_names(const received_request& request) {
  std::vector<std::string> names;
  const json body = json::parse(request.body);
  for (const json& s : body["resourceSpans"][0]["scopeSpans"][0]["spans"])
    names.push_back(s["name"]);
  return names;
}

template <class Error, class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(OtlpExporter, SendsSpansAndMetrics) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  recorded work;
  weft::metrics metrics;
  weft::pool pool({.workers = 1});
  const auto pool_entry = metrics.add("main", pool);
  auto options = options_for(receiver.endpoint() + "/behind/a/gateway/");
  options.headers = {{"authorization", "Bearer 42"}};
  options.resource = {{"deployment.environment.name", "test"}};
  weft::otlp_exporter exporter(options);
  const auto spans = exporter.add(work.trace());
  const auto numbers = exporter.add(metrics);
  work.end_spans(2);
  EXPECT_TRUE(exporter.flush());

  const auto requests = receiver.requests();
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].target, "/behind/a/gateway/v1/traces");
  EXPECT_EQ(requests[1].target, "/behind/a/gateway/v1/metrics");
  for (const auto& request : requests) {
    EXPECT_EQ(request.headers.at("content-type"), "application/json");
    EXPECT_EQ(request.headers.at("authorization"), "Bearer 42");
    EXPECT_THAT(request.headers.at("user-agent"), HasSubstr("weft/"));
    EXPECT_THAT(request.body, HasSubstr(R"("deployment.environment.name")"));
    EXPECT_THAT(request.body, HasSubstr(R"("shop")"));
  }
  EXPECT_EQ(span_names(requests[0]), (std::vector<std::string>{"checkout 0", "checkout 1"}));
  EXPECT_THAT(requests[1].body, HasSubstr("scheduler.tasks.spawned"));

  const weft::otlp_stats stats = exporter.stats();
  EXPECT_EQ(stats.spans.sent, 2U);
  EXPECT_GT(stats.points.sent, 10U);
  EXPECT_EQ(stats.spans.waiting + stats.points.waiting, 0U);
  EXPECT_EQ(stats.requests, 2U);
  EXPECT_EQ(stats.failed_requests, 0U);
  EXPECT_EQ(stats.last_error, "");
}

TEST(OtlpExporter, SendsByItselfAtItsInterval) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  weft::metrics metrics;
  weft::pool pool({.workers = 1});
  const auto pool_entry = metrics.add("main", pool);
  auto options = options_for(receiver.endpoint());
  options.interval = 1ms;
  weft::otlp_exporter exporter(options);
  const auto entry = exporter.add(metrics);
  EXPECT_GE(receiver.wait_for_requests(2).size(), 2U);
}

TEST(OtlpExporter, SendsNothingWhenThereIsNothing) {
  test_receiver receiver;
  recorded work;
  weft::metrics metrics;
  weft::otlp_exporter exporter(options_for(receiver.endpoint()));
  const auto spans = exporter.add(work.trace());
  const auto numbers = exporter.add(metrics);
  EXPECT_TRUE(exporter.flush());
  EXPECT_THAT(receiver.requests(), SizeIs(0));
}

TEST(OtlpExporter, KeepsItsConnectionAndOpensAnotherWhenTheCollectorHasClosedIt) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver([](const received_request&, std::size_t index) {
    return receiver_answer{.closes_after = index == 1};
  });
  recorded work;
  weft::otlp_exporter exporter(options_for(receiver.endpoint()));
  const auto spans = exporter.add(work.trace());
  for (int i = 0; i < 3; ++i) {
    work.end_spans(1);
    EXPECT_TRUE(exporter.flush());
  }
  EXPECT_EQ(receiver.connections(), 2U);
  EXPECT_EQ(exporter.stats().spans.sent, 3U);
  EXPECT_EQ(exporter.stats().failed_requests, 0U) << "a kept connection that ended is no failure";
}

TEST(OtlpExporter, SendsAgainWhatTheCollectorHadNoTimeFor) {
  const weft::test::watchdog guard(60s);
  for (const int status : {429, 502, 503, 504}) {
    test_receiver receiver([status](const received_request&, std::size_t index) {
      return index == 0 ? receiver_answer{.status = status,
                                          .body = R"({"message": "too much"})",
                                          .headers = {{"Retry-After", "0"}}}
                        : receiver_answer();
    });
    recorded work;
    heard messages;
    auto options = options_for(receiver.endpoint());
    options.backoff_first = 1h;  // Retry-After says better
    options.backoff_max = 1h;
    options.on_error = std::ref(messages);
    weft::otlp_exporter exporter(options);
    const auto spans = exporter.add(work.trace());
    work.end_spans(1);
    EXPECT_TRUE(exporter.flush(1h)) << status;
    const auto requests = receiver.requests();
    ASSERT_THAT(requests, SizeIs(2));
    EXPECT_EQ(requests[0].body, requests[1].body);
    EXPECT_EQ(exporter.stats().spans.sent, 1U);
    EXPECT_EQ(exporter.stats().failed_requests, 1U);
    EXPECT_THAT(messages.wait_for(1)[0],
                AllOf(HasSubstr(receiver.endpoint() + "/v1/traces: answered " +
                                std::to_string(status) + ": \"too much\""),
                      HasSubstr("1 spans wait, the next attempt is in 0.0 s")));
  }
}

TEST(OtlpExporter, DropsWhatTheCollectorRefuses) {
  const weft::test::watchdog guard(60s);
  for (const int status : {301, 400, 401, 404, 413, 500}) {
    test_receiver receiver([status](const received_request&, std::size_t index) {
      return index == 0 ? receiver_answer{.status = status, .body = "no \x1b[2J"}
                        : receiver_answer();
    });
    recorded work;
    weft::otlp_exporter exporter(options_for(receiver.endpoint()));
    const auto spans = exporter.add(work.trace());
    work.end_spans(3);
    EXPECT_FALSE(exporter.flush()) << status;
    EXPECT_EQ(exporter.stats().spans.dropped, 3U);
    EXPECT_EQ(exporter.stats().spans.sent, 0U);
    EXPECT_THAT(exporter.stats().last_error,
                AllOf(HasSubstr("answered " + std::to_string(status) + ": \"no \\x1b[2J\""),
                      HasSubstr("(3 spans are dropped)")));
    work.end_spans(1);
    EXPECT_TRUE(exporter.flush()) << "what comes later is sent";
    EXPECT_THAT(receiver.requests(), SizeIs(2)) << "it must not be sent again";
  }
}

TEST(OtlpExporter, WaitsForACollectorThatIsNotThereYet) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver([](const auto&, std::size_t) { return receiver_answer(); },
                         test_receiver::mode::begins_later);
  recorded work;
  heard messages;
  auto options = options_for(receiver.endpoint());
  options.on_error = std::ref(messages);
  weft::otlp_exporter exporter(options);
  const auto spans = exporter.add(work.trace());
  work.end_spans(1);
  EXPECT_FALSE(exporter.flush(0ms));
  EXPECT_THAT(messages.wait_for(2)[1],
              AllOf(HasSubstr("cannot connect: Connection refused; is a collector running there?"),
                    HasSubstr("1 spans wait")));
  EXPECT_EQ(exporter.stats().spans.waiting, 1U);
  receiver.start();
  EXPECT_TRUE(exporter.flush(1h));
  EXPECT_EQ(exporter.stats().spans.sent, 1U);
}

TEST(OtlpExporter, SendsAgainWhenTheConnectionEndsWithoutAnAnswer) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver([](const received_request&, std::size_t index) {
    return receiver_answer{.closes_before = index == 0};
  });
  recorded work;
  weft::otlp_exporter exporter(options_for(receiver.endpoint()));
  const auto spans = exporter.add(work.trace());
  work.end_spans(1);
  EXPECT_TRUE(exporter.flush(1h));
  EXPECT_EQ(exporter.stats().failed_requests, 1U);
  EXPECT_THAT(exporter.stats().last_error, HasSubstr("no answer came"));
}

TEST(OtlpExporter, GivesUpAnAnswerThatDoesNotComeInTime) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver(
      [](const received_request&, std::size_t) { return receiver_answer{.never_comes = true}; });
  recorded work;
  heard messages;
  auto options = options_for(receiver.endpoint());
  options.timeout = 5ms;
  options.backoff_first = options.backoff_max = 1h;
  options.on_error = std::ref(messages);
  weft::otlp_exporter exporter(options);
  const auto spans = exporter.add(work.trace());
  work.end_spans(1);
  EXPECT_FALSE(exporter.flush(0ms));
  EXPECT_THAT(messages.wait_for(1)[0], HasSubstr("the time for it was up"));
}

TEST(OtlpExporter, CountsWhatTheCollectorTookOnlyInPart) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver([](const received_request& request, std::size_t) {
    const std::string body =
        request.target == "/v1/traces"
            ? R"({"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}})"
            : R"({"partialSuccess": {"rejectedDataPoints": 1}})";
    return receiver_answer{.body = body};
  });
  recorded work;
  heard messages;
  weft::metrics metrics;
  weft::pool pool({.workers = 1});
  const auto pool_entry = metrics.add("main", pool);
  auto options = options_for(receiver.endpoint());
  options.on_error = std::ref(messages);
  weft::otlp_exporter exporter(options);
  const auto spans = exporter.add(work.trace());
  const auto numbers = exporter.add(metrics);
  work.end_spans(5);
  EXPECT_FALSE(exporter.flush());
  EXPECT_EQ(exporter.stats().spans.sent, 3U);
  EXPECT_EQ(exporter.stats().spans.rejected, 2U);
  EXPECT_EQ(exporter.stats().points.rejected, 1U);
  EXPECT_EQ(exporter.stats().failed_requests, 0U);
  EXPECT_THAT(messages.wait_for(2)[0], HasSubstr("did not take 2 of them: \"too old\""));
  EXPECT_THAT(receiver.requests(), SizeIs(2)) << "it must not be sent again";
}

TEST(OtlpExporter, DoesNotReadAnAnswerWithoutEnd) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver([](const received_request&, std::size_t) {
    return receiver_answer{.body = std::string(std::size_t{5} << 20U, ' ')};
  });
  recorded work;
  weft::otlp_exporter exporter(options_for(receiver.endpoint()));
  const auto spans = exporter.add(work.trace());
  work.end_spans(1);
  EXPECT_FALSE(exporter.flush());
  EXPECT_EQ(exporter.stats().spans.dropped, 1U);
  EXPECT_THAT(exporter.stats().last_error, HasSubstr("answered with more than 4 MiB"));
}

TEST(OtlpExporter, SaysWhatToDoWhenItIsNotHttpThatAnswers) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver([](const received_request&, std::size_t) {
    return receiver_answer{.raw = std::string("\0\0\x12\4\0\0\0\0\0 no HTTP\r\n\r\n", 22)};
  });
  recorded work;
  heard messages;
  auto options = options_for(receiver.endpoint());
  options.backoff_first = options.backoff_max = 1h;
  options.on_error = std::ref(messages);
  weft::otlp_exporter exporter(options);
  const auto spans = exporter.add(work.trace());
  work.end_spans(1);
  EXPECT_FALSE(exporter.flush(0ms));
  EXPECT_THAT(messages.wait_for(1)[0], AllOf(HasSubstr("is not HTTP"), HasSubstr("gRPC")));
}

TEST(OtlpExporter, DropsTheOldestSpansBeyondItsBound) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  recorded work;
  auto options = options_for(receiver.endpoint());
  options.spans_max = 5;
  weft::otlp_exporter exporter(options);
  const auto spans = exporter.add(work.trace());
  work.end_spans(12);
  EXPECT_TRUE(exporter.flush()) << "all that was waiting was sent";
  EXPECT_EQ(exporter.stats().spans.dropped, 7U);
  EXPECT_EQ(exporter.stats().spans.sent, 5U);
  EXPECT_EQ(span_names(receiver.requests().at(0)).front(), "checkout 7");
}

TEST(OtlpExporter, SendsNoMoreThanABatchInARequest) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  recorded work;
  auto options = options_for(receiver.endpoint());
  options.batch_size = 2;
  weft::otlp_exporter exporter(options);
  const auto spans = exporter.add(work.trace());
  work.end_spans(5);
  EXPECT_TRUE(exporter.flush());
  const auto requests = receiver.requests();
  ASSERT_THAT(requests, SizeIs(3));
  EXPECT_THAT(span_names(requests[0]), SizeIs(2));
  EXPECT_THAT(span_names(requests[2]), SizeIs(1));
}

TEST(OtlpExporter, EndsAtOnceThoughTheCollectorHangs) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver(
      [](const received_request&, std::size_t) { return receiver_answer{.never_comes = true}; });
  recorded work;
  heard messages;
  auto options = options_for(receiver.endpoint());  // with a timeout of an hour
  options.shutdown_timeout = 5ms;
  options.on_error = std::ref(messages);
  auto exporter = std::make_unique<weft::otlp_exporter>(options);
  auto spans = exporter->add(work.trace());
  work.end_spans(1);
  EXPECT_FALSE(exporter->flush(0ms));
  static_cast<void>(receiver.wait_for_requests(1));
  work.end_spans(1);
  exporter.reset();
  EXPECT_THAT(messages.wait_for(2).back(),
              HasSubstr("ends with 2 spans and 0 points that were not"));
  spans.remove();
}

TEST(OtlpExporter, SendsTheRestAtItsEnd) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  recorded work;
  weft::metrics metrics;
  weft::pool pool({.workers = 1});
  const auto pool_entry = metrics.add("main", pool);
  {
    auto options = options_for(receiver.endpoint());
    options.shutdown_timeout = 1h;
    weft::otlp_exporter exporter(options);
    const auto spans = exporter.add(work.trace());
    const auto numbers = exporter.add(metrics);
    work.end_spans(3);
  }
  const auto requests = receiver.requests();
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_THAT(span_names(requests[0]), SizeIs(3));
  EXPECT_EQ(requests[1].target, "/v1/metrics");
}

TEST(OtlpExporter, SendsWhatWasThereWhenAnEntryWasRemoved) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  weft::otlp_exporter exporter(options_for(receiver.endpoint()));
  {
    recorded work;
    weft::metrics metrics;
    weft::pool pool({.workers = 1});
    const auto pool_entry = metrics.add("main", pool);
    auto spans = exporter.add(work.trace());
    auto numbers = exporter.add(metrics);
    work.end_spans(1);
    spans.remove();
    spans.remove();
    work.end_spans(1);
  }
  EXPECT_TRUE(exporter.flush());
  EXPECT_EQ(exporter.stats().spans.sent, 1U) << "nobody reads what ended after the removal";
  EXPECT_GT(exporter.stats().points.sent, 0U);
}

TEST(OtlpExporter, EntriesMoveAndMayOutliveIt) {
  recorded work;
  weft::otlp_entry entry;
  {
    weft::otlp_exporter exporter(options_for("http://127.0.0.1:1"));
    auto first = exporter.add(work.trace());
    entry = std::move(first);
    EXPECT_THAT(
        refusal<std::invalid_argument>([&] { static_cast<void>(exporter.add(work.trace())); }),
        HasSubstr("would be sent twice"));
    entry = {};
    entry = exporter.add(work.trace());
  }
  entry.remove();
}

TEST(OtlpExporter, HasALimitOfEntries) {
  weft::otlp_exporter exporter(options_for("http://127.0.0.1:1"));
  std::vector<std::unique_ptr<weft::trace>> traces;
  std::vector<weft::otlp_entry> entries;
  for (std::size_t i = 0; i < weft::otlp_exporter::entries_max; ++i) {
    entries.push_back(exporter.add(*traces.emplace_back(std::make_unique<weft::trace>())));
  }
  weft::trace one_more;
  EXPECT_THAT(refusal<std::length_error>([&] { static_cast<void>(exporter.add(one_more)); }),
              HasSubstr("has 64 entries already"));
  entries.pop_back();
  EXPECT_NO_THROW(static_cast<void>(exporter.add(one_more)));
}

TEST(OtlpExporter, MayBeAskedByWhoeverIsTold) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver(
      [](const received_request&, std::size_t) { return receiver_answer{.status = 400}; });
  recorded work;
  std::unique_ptr<weft::otlp_exporter> exporter;
  std::latch told(1);
  auto options = options_for(receiver.endpoint());
  options.on_error = [&](const std::string& message) {
    EXPECT_EQ(exporter->stats().last_error, message);
    EXPECT_FALSE(exporter->flush()) << "it would wait for itself";
    told.count_down();
  };
  exporter = std::make_unique<weft::otlp_exporter>(options);
  const auto spans = exporter->add(work.trace());
  work.end_spans(1);
  EXPECT_FALSE(exporter->flush());
  told.wait();
}

TEST(OtlpExporter, NoWorkerWaitsForACollectorThatHangs) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver(
      [](const received_request&, std::size_t) { return receiver_answer{.never_comes = true}; });
  recorded work;
  weft::pool pool({.workers = 2});
  const auto pool_entry = work.trace().add("main", pool);
  weft::otlp_exporter exporter(options_for(receiver.endpoint()));
  const auto spans = exporter.add(work.trace());
  work.end_spans(1);
  EXPECT_FALSE(exporter.flush(0ms));
  static_cast<void>(receiver.wait_for_requests(1));
  const weft::context_scope scope(weft::context::new_trace("checkout"));
  for (int i = 0; i < 100; ++i) pool.submit([] {}).get();
  EXPECT_EQ(exporter.stats().spans.waiting, 1U);
}

TEST(OtlpExporter, ReadsAtItsIntervalWhileTheCollectorHangs) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver(
      [](const received_request&, std::size_t) { return receiver_answer{.never_comes = true}; });
  recorded work;
  weft::metrics metrics;
  weft::pool pool({.workers = 1});
  const auto pool_entry = metrics.add("main", pool);
  auto options = options_for(receiver.endpoint());
  options.interval = 1ms;
  weft::otlp_exporter exporter(options);
  const auto spans = exporter.add(work.trace());
  work.end_spans(1);
  static_cast<void>(receiver.wait_for_requests(1));
  const auto numbers = exporter.add(metrics);
  work.end_spans(1);
  // Nothing but its stats tells that it has read.
  while (exporter.stats().spans.waiting < 2 || exporter.stats().points.waiting == 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(exporter.stats().requests, 0U) << "the first one still hangs";
}

TEST(OtlpExporter, EndsInAForkedChildAndGoesOnInItsParent) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  recorded work;
  auto options = options_for(receiver.endpoint());
  options.shutdown_timeout = 1h;
  auto exporter = std::make_unique<weft::otlp_exporter>(options);
  auto spans = exporter->add(work.trace());
  work.end_spans(1);
  EXPECT_TRUE(exporter->flush());

  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // kills it if it hangs
    spans = {};
    exporter.reset();
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);

  work.end_spans(1);
  EXPECT_TRUE(exporter->flush(1h));
  EXPECT_EQ(receiver.connections(), 1U);
}

TEST(OtlpExporter, IsUsedByManyThreadsAtOnce) {
  const weft::test::watchdog guard(120s);
  test_receiver receiver([](const received_request&, std::size_t index) {
    return receiver_answer{.status = index % 3 == 0 ? 503 : 200, .headers = {{"Retry-After", "0"}}};
  });
  auto options = options_for(receiver.endpoint());
  options.interval = 1ms;
  options.shutdown_timeout = 1h;
  weft::otlp_exporter exporter(options);
  std::latch start(4);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        for (int i = 0; i < 20; ++i) {
          weft::metrics metrics;
          weft::pool pool({.workers = 1});
          const auto pool_entry = metrics.add("main", pool);
          const auto numbers = exporter.add(metrics);
          static_cast<void>(exporter.stats());
        }
      });
    }
    threads.emplace_back([&] {
      start.arrive_and_wait();
      recorded work;
      const auto spans = exporter.add(work.trace());
      for (int i = 0; i < 20; ++i) {
        work.end_spans(3);
        exporter.flush(1ms);
      }
    });
    start.arrive_and_wait();
    for (int i = 0; i < 5; ++i) exporter.flush(1ms);
  }
  EXPECT_TRUE(exporter.flush(1h));
  EXPECT_EQ(exporter.stats().spans.sent, 60U);
}

}  // namespace
