#include "otlp/reply.hpp"

#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

using testing::HasSubstr;
using namespace std::chrono_literals;

namespace {

using weft::otlp::backoff;
using weft::otlp::judge;
using weft::otlp::judgement;
using weft::otlp::parse_retry_after;
using weft::otlp::reply;
using weft::otlp::verdict;

// Sun, 06 Nov 1994 08:49:37 GMT
constexpr std::chrono::sys_seconds now{784'111'777s};

judgement of(int status, const std::string& body = "", const std::string& retry_after = "") {
  return judge({.status = status, .retry_after = retry_after, .body = body}, "rejectedSpans", now);
}

TEST(OtlpReply, FourStatusesAskForPatience) {
  for (int status = 100; status < 600; ++status) {
    const bool is_taken = status >= 200 && status < 300;
    const bool is_later = status == 429 || status == 502 || status == 503 || status == 504;
    const verdict wanted =
        is_taken ? verdict::taken : (is_later ? verdict::later : verdict::refused);
    EXPECT_EQ(of(status).what, wanted) << status;
    EXPECT_EQ(of(status).problem.empty(), is_taken) << status;
  }
}

TEST(OtlpReply, SuccessMayBeEmpty) {
  for (const char* body : {"", " \r\n", "{}", R"({"partialSuccess": {}})",
                           R"({"partialSuccess": {"rejectedSpans": "0"}})",
                           R"({"partialSuccess": null})", R"({"something": ["else"]})"}) {
    EXPECT_EQ(of(200, body).rejected, 0U) << body;
    EXPECT_EQ(of(200, body).problem, "") << body;
  }
}

TEST(OtlpReply, SuccessMayBePartial) {
  EXPECT_EQ(of(200, R"({"partialSuccess": {"rejectedSpans": 7}})").rejected, 7U);
  const judgement j =
      of(200, R"({"partialSuccess": {"rejectedSpans": "7", "errorMessage": "too\nold"}})");
  EXPECT_EQ(j.what, verdict::taken);
  EXPECT_EQ(j.rejected, 7U);
  EXPECT_EQ(j.problem, R"(did not take 7 of them: "too\nold")");
}

TEST(OtlpReply, SuccessMayWarn) {
  const judgement j = of(200, R"({"partialSuccess": {"errorMessage": "soon too old"}})");
  EXPECT_EQ(j.rejected, 0U);
  EXPECT_EQ(j.problem, R"(took it and warns: "soon too old")");
}

TEST(OtlpReply, CountsThatMakeNoSenseCountAsNone) {
  for (const char* count : {"-1", "\"-1\"", "\"seven\"", "\"7x\"", "1.5", "[]", "null",
                            "\"99999999999999999999999\""}) {
    const std::string body = std::string(R"({"partialSuccess": {"rejectedSpans": )") + count + "}}";
    EXPECT_EQ(of(200, body).rejected, 0U) << count;
  }
}

TEST(OtlpReply, SuccessThatIsNotOtlpIsTold) {
  for (const char* body : {"<html>", "[]", "{", "7", "\x01\x02"}) {
    EXPECT_EQ(of(200, body).what, verdict::taken) << body;
    EXPECT_THAT(of(200, body).problem, HasSubstr("is it a collector of OpenTelemetry")) << body;
  }
}

// As long as an answer may be, of one piece again and again.
std::string long_body(const std::string& begin, const std::string& again, const std::string& end) {
  std::string body = begin;
  while (body.size() + again.size() + end.size() < std::size_t{4} << 20U) body += again;
  return body + end;
}

TEST(OtlpReply, AnAnswerOfBracketsTakesLittleMemoryAndNoTime) {
  const weft::test::watchdog guard(60s);  // a tree of the second one takes an hour
  const auto highest_mib = [] {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss / 1024;
  };
  const std::vector<std::string> bodies = {
      long_body("", "[", ""), long_body("[", "{},", "{}]"), long_body("[", "[],", "[]]"),
      long_body(R"({"a":{})", R"(,"b":{})", "}"), long_body("", R"({"partialSuccess":)", "")};
  const auto before = highest_mib();
  for (const std::string& body : bodies) {
    SCOPED_TRACE(body.substr(0, 20));
    EXPECT_EQ(of(200, body).problem.empty(), body.starts_with(R"({"a")"));
    EXPECT_EQ(of(200, body).rejected, 0U);
    EXPECT_THAT(of(400, body).problem, HasSubstr("answered 400: "));
  }
  if (!weft::test::under_sanitizer) {
    EXPECT_LT(highest_mib() - before, 30);
  }
}

TEST(OtlpReply, FieldsCountWhereTheyBelong) {
  const auto rejected = [](const char* body) { return of(200, body).rejected; };
  EXPECT_EQ(rejected(R"({"x": [[{"y": 1}]], "partialSuccess": {"rejectedSpans": 7}})"), 7U);
  EXPECT_EQ(rejected(R"({"partialSuccess": {"x": {"y": []}, "rejectedSpans": 7}})"), 7U);
  for (const char* body :
       {R"({"rejectedSpans": 7})", R"({"partialSuccess": [{"rejectedSpans": 7}]})",
        R"({"partialSuccess": {"x": {"rejectedSpans": 7}}})",
        R"({"partialSuccess": null, "x": {"rejectedSpans": 7}})",
        R"({"x": {"partialSuccess": {"rejectedSpans": 7}}})",
        R"({"x": [], "partialSuccess": {"rejectedPoints": 7}})",
        R"([{"partialSuccess": {"rejectedSpans": 7}}])",
        R"({"partialSuccess": {"rejectedSpans": 7}} and more)"}) {
    EXPECT_EQ(rejected(body), 0U) << body;
  }
  EXPECT_EQ(of(400, R"({"x": {"message": "no"}})").problem,
            R"(answered 400: "{"x": {"message": "no"}}")");
}

TEST(OtlpReply, RefusalsSayWhatToDo) {
  EXPECT_THAT(of(101, "").problem, HasSubstr("something else than HTTP"));
  EXPECT_THAT(of(401, "").problem, HasSubstr("otlp_options::headers"));
  EXPECT_THAT(of(404, "").problem, HasSubstr("Look at the endpoint"));
  EXPECT_THAT(of(413, "").problem, HasSubstr("lower otlp_options::batch_size"));
  EXPECT_THAT(of(302, "").problem, HasSubstr("follows no redirections"));
  EXPECT_EQ(of(400, R"({"message": "bad id"})").problem, R"(answered 400: "bad id")");
}

TEST(OtlpReply, LongTextIsCutBetweenCharacters) {
  std::string body(299, 'x');
  body += "\xC3\xB6 and more";
  EXPECT_EQ(of(400, body).problem, "answered 400: \"" + std::string(299, 'x') + "...\"");
}

TEST(OtlpRetryAfter, IsSecondsOrADate) {
  const auto pause = [](const char* text) { return parse_retry_after(text, now); };
  EXPECT_EQ(pause("0"), 0ms);
  EXPECT_EQ(pause("120"), 120s);
  EXPECT_EQ(pause("99999"), 1h) << "not longer than an hour";
  EXPECT_EQ(pause("99999999999999999999"), 1h);
  EXPECT_EQ(pause("Sun, 06 Nov 1994 08:49:47 GMT"), 10s);
  EXPECT_EQ(pause("Sun, 06 Nov 1994 08:49:00 GMT"), 0s) << "the past is now";
  EXPECT_EQ(pause("Mon, 06 Nov 2094 08:49:00 GMT"), 1h);
}

TEST(OtlpRetryAfter, IsIgnoredWhenItIsNeither) {
  for (const char* text : {"", "soon", "-1", "1.5", "1 s", "Sun, 06 Foo 1994 08:49:37 GMT",
                           "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 28:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 CET", "Sunday, 06-Nov-94 08:49:37 GMT"}) {
    EXPECT_EQ(parse_retry_after(text, now), std::nullopt) << text;
  }
  EXPECT_EQ(of(503, "", "soon").pause, std::nullopt);
  EXPECT_EQ(of(503, "", "3").pause, 3s);
  EXPECT_EQ(of(400, "", "3").pause, std::nullopt);
}

TEST(OtlpBackoff, DoublesUpToItsLimitAndIsShortenedAtRandom) {
  EXPECT_EQ(backoff(1, 1s, 30s, 0), 1s);
  EXPECT_EQ(backoff(2, 1s, 30s, 0), 2s);
  EXPECT_EQ(backoff(5, 1s, 30s, 0), 16s);
  EXPECT_EQ(backoff(6, 1s, 30s, 0), 30s);
  EXPECT_EQ(backoff(4'000'000'000, 1s, 30s, 0), 30s);
  EXPECT_EQ(backoff(2, 1s, 30s, 1), 1s);
  EXPECT_EQ(backoff(2, 1s, 30s, 0.5), 1500ms);
  EXPECT_EQ(backoff(1, 10s, 1s, 0), 1s) << "the limit wins";
}

}  // namespace
