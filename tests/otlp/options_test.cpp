#include <weft/otlp/options.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/otlp/exporter.hpp>

#include "otlp/check_options.hpp"
#include "otlp/endpoint.hpp"

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

namespace {

using weft::otlp_options;
using weft::otlp::endpoint;

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was refused";
}

endpoint parsed(const std::string& url) { return weft::otlp::parse_endpoint(url, "here"); }

TEST(OtlpEndpoint, HasHostPortAndPath) {
  struct row {
    const char* url;
    const char* host;
    const char* port;
    const char* host_header;
    const char* path;
  };
  for (const row& r : std::vector<row>{
           {"http://localhost:4318", "localhost", "4318", "localhost:4318", ""},
           {"http://localhost:4318/", "localhost", "4318", "localhost:4318", ""},
           {"HTTP://collector", "collector", "80", "collector", ""},
           {"http://10.0.0.1:04318/a/b//", "10.0.0.1", "4318", "10.0.0.1:04318", "/a/b"},
           {"http://[::1]:4318/x", "::1", "4318", "[::1]:4318", "/x"},
           {"http://[fe80::1]", "fe80::1", "80", "[fe80::1]", ""},
           {"http://[::ffff:10.0.0.1]", "::ffff:10.0.0.1", "80", "[::ffff:10.0.0.1]", ""},
           {"http://my_host.example-1.test:1/%20~", "my_host.example-1.test", "1",
            "my_host.example-1.test:1", "/%20~"},
       }) {
    const endpoint e = parsed(r.url);
    EXPECT_EQ(e.host, r.host) << r.url;
    EXPECT_EQ(e.port, r.port) << r.url;
    EXPECT_EQ(e.host_header, r.host_header) << r.url;
    EXPECT_EQ(e.path, r.path) << r.url;
  }
}

TEST(OtlpEndpoint, ThatCannotWorkIsRefused) {
  struct row {
    std::string url;
    const char* problem;
  };
  for (const row& r : std::vector<row>{
           {"", "does not begin with http://"},
           {"localhost:4318", "does not begin with http://"},
           {"http:/localhost", "does not begin with http://"},
           {"grpc://localhost:4317", "does not begin with http://"},
           {"http", "does not begin with http://"},
           {"http://", "has no host"},
           {"http://:4318", "has no host"},
           {"http://a b:4318", "a character that no name has"},
           {"http://a\r\nX-Evil: 1:4318", "a character that no name has"},
           {"http://::1:4318", "has no host"},
           {"http://fe80::1:4318", "has a port"},
           {"http://[::1", "no IPv6 address between its brackets"},
           {"http://[]:1", "no IPv6 address between its brackets"},
           {"http://[localhost]:1", "no IPv6 address between its brackets"},
           {"http://[:::]:1", "no IPv6 address between its brackets"},
           {"http://[12345::]", "no IPv6 address between its brackets"},
           {"http://[1.2.3.4]:1", "no IPv6 address between its brackets"},
           {"http://[abc.def]:1", "no IPv6 address between its brackets"},
           {std::string("http://[::1\0]:1", 15), "no IPv6 address between its brackets"},
           {"http://[::1%25lo]:1", "no IPv6 address between its brackets"},
           {"http://[::1]x", "has a port that is no number"},
           {"http://a:", "has a port that is no number"},
           {"http://a:0", "has a port that is no number"},
           {"http://a:65536", "has a port that is no number"},
           {"http://a:-1", "has a port that is no number"},
           {"http://a:4318x", "has a port that is no number"},
           {"http://a/b?c=d", "has a query or a fragment"},
           {"http://a#b", "has a query or a fragment"},
           {"http://a/v1/traces", "ends with /v1/traces, which is appended anyway"},
           {"http://a/b/v1/metrics/", "ends with /v1/metrics, which is appended anyway"},
           {"http://a/b c", "in its path"},
           {"http://a/b\r\nX-Evil: 1", "in its path"},
           {"http://a/\xc3\xa4", "in its path"},
           {"http://" + std::string(3000, 'a'), "longer than 2000 bytes"},
       }) {
    EXPECT_THAT(refusal([&] { static_cast<void>(parsed(r.url)); }),
                AllOf(HasSubstr("weft: here: "), HasSubstr(r.problem),
                      HasSubstr("such as \"http://localhost:4318\"")))
        << r.url;
  }
}

TEST(OtlpEndpoint, WithHttpsIsRefusedWithAnotherWay) {
  for (const char* url : {"https://collector:4318", "HTTPS://collector"}) {
    EXPECT_THAT(refusal([&] { static_cast<void>(parsed(url)); }),
                HasSubstr("run a collector beside the program"));
  }
}

TEST(OtlpEndpoint, WithAPasswordIsRefusedWithoutRepeatingIt) {
  EXPECT_THAT(refusal([&] { static_cast<void>(parsed("http://me:secret@collector:4318")); }),
              AllOf(HasSubstr("as the header \"authorization\""), Not(HasSubstr("secret"))));
  for (const char* url : {"https://me:secret@collector", "ftp://me:secret@collector",
                          "http://me:sec/secret@collector"}) {
    EXPECT_THAT(refusal([&] { static_cast<void>(parsed(url)); }), Not(HasSubstr("secret"))) << url;
  }
}

TEST(OtlpOptions, ThatAreDefaultsWork) { weft::otlp::check_options({}); }

TEST(OtlpOptions, ThatCannotWorkAreRefused) {
  struct row {
    otlp_options options;
    const char* problem;
  };
  const std::vector<row> rows = {
      {{.endpoint = "https://a"}, "otlp_options::endpoint"},
      {{.service_name = ""}, "otlp_options::service_name is empty"},
      {{.service_name = "a\nb"}, "service_name is \"a\\nb\"; give UTF-8"},
      {{.service_name = "\xff"}, "give UTF-8"},
      {{.resource = {{"", "x"}}}, "an attribute without a name"},
      {{.resource = {{"a", "\x1b"}}}, "resource: \"a\" is \"\\x1b\""},
      {{.resource = {{"a\n", "x"}}}, "resource: a name is \"a\\n\""},
      {{.resource = {{"a", "x"}, {"a", "y"}}}, "\"a\" twice"},
      {{.resource = {{"service.name", "x"}}}, "an option of its own, service_name"},
      {{.resource = {{"telemetry.sdk.name", "x"}}}, "written by Weft itself"},
      {{.resource = std::vector<weft::otlp_field>(101, {"a", "x"})}, "more than 100"},
      {{.interval = 0ms}, "otlp_options::interval is 0 ms; give more than 0"},
      {{.interval = -1ms}, "interval is -1 ms"},
      {{.interval = std::chrono::milliseconds::max()}, "at most a year"},
      {{.timeout = 0ms}, "otlp_options::timeout is 0 ms"},
      {{.shutdown_timeout = -1ms}, "shutdown_timeout is -1 ms; give 0 or more"},
      {{.backoff_first = 0ms}, "backoff_first is 0 ms"},
      {{.backoff_max = 0ms}, "backoff_max is 0 ms"},
      {{.spans_max = 0}, "spans_max is 0"},
      {{.batch_size = 0}, "batch_size is 0"},
  };
  for (const row& r : rows) {
    EXPECT_THAT(refusal([&] { weft::otlp_exporter exporter(r.options); }), HasSubstr(r.problem));
  }
}

TEST(OtlpOptions, HeadersThatWouldBeMoreThanOneAreRefusedWithoutTheirValues) {
  struct row {
    weft::otlp_field header;
    const char* problem;
  };
  for (const row& r : std::vector<row>{
           {{"authorization", "secret\r\nX-Evil: 1"}, "has a value with a line end"},
           {{"authorization", "secret\n"}, "has a value with a line end"},
           {{"authorization", std::string("secret\0x", 8)}, "has a value with a line end"},
           {{"authorization", "secret \xc3\xa4"}, "one that is not ASCII"},
           {{"authorization", "secret" + std::string(9000, 'x')}, "longer than 8000 bytes"},
           {{"", "secret"}, "is no name of a header"},
           {{"a b", "secret"}, "is no name of a header"},
           {{"a:b", "secret"}, "is no name of a header"},
           {{"a\r\nb", "secret"}, "\"a\\r\\nb\" is no name of a header"},
           {{std::string(300, 'a'), "secret"}, "is no name of a header"},
           {{"Host", "secret"}, "is written by Weft itself"},
           {{"content-LENGTH", "secret"}, "is written by Weft itself"},
           {{"Transfer-Encoding", "secret"}, "is written by Weft itself"},
       }) {
    EXPECT_THAT(refusal([&] { weft::otlp_exporter exporter({.headers = {r.header}}); }),
                AllOf(HasSubstr("otlp_options::headers: "), HasSubstr(r.problem),
                      Not(HasSubstr("secret"))));
  }
  EXPECT_THAT(refusal([&] { weft::otlp_exporter exporter({.headers = {{"A", "1"}, {"a", "2"}}}); }),
              HasSubstr("headers has \"a\" twice"));
}

otlp_options from(const std::map<std::string, std::string>& variables) {
  return weft::otlp::read_environment([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(OtlpEnvironment, WithoutVariablesGivesTheDefaults) {
  const otlp_options made = from({{"OTEL_EXPORTER_OTLP_ENDPOINT", ""}, {"OTEL_SERVICE_NAME", ""}});
  EXPECT_EQ(made.endpoint, "http://localhost:4318");
  EXPECT_EQ(made.service_name, "unknown_service");
  EXPECT_TRUE(made.headers.empty());
  EXPECT_TRUE(made.resource.empty());
}

TEST(OtlpEnvironment, SetsWhatItHas) {
  const otlp_options made =
      from({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:1234/x"},
            {"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20a%2Cb%3D, x-tenant = 7 ,,"},
            {"OTEL_SERVICE_NAME", "shop"},
            {"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,region=north%C3%A4,a=b=c"}});
  EXPECT_EQ(made.endpoint, "http://collector:1234/x");
  EXPECT_EQ(made.service_name, "shop") << "the variable of its own wins";
  ASSERT_EQ(made.headers.size(), 2U);
  EXPECT_EQ(made.headers[0].name, "authorization");
  EXPECT_EQ(made.headers[0].value, "Bearer a,b=");
  EXPECT_EQ(made.headers[1].name, "x-tenant");
  EXPECT_EQ(made.headers[1].value, "7");
  ASSERT_EQ(made.resource.size(), 2U);
  EXPECT_EQ(made.resource[0].value, "north\xc3\xa4");
  EXPECT_EQ(made.resource[1].value, "b=c");
  EXPECT_EQ(from({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=other"}}).service_name, "other");
}

TEST(OtlpEnvironment, ThatCannotWorkIsRefusedByName) {
  struct row {
    const char* name;
    const char* value;
    const char* problem;
  };
  for (const row& r : std::vector<row>{
           {"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", "does not begin with http://"},
           {"OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector", "run a collector beside"},
           {"OTEL_EXPORTER_OTLP_HEADERS", "a=1,secret", "number 2 of its parts is not NAME=VALUE"},
           {"OTEL_EXPORTER_OTLP_HEADERS", "=secret", "number 1 of its parts"},
           {"OTEL_EXPORTER_OTLP_HEADERS", "a=secret%2", "a % that no two digits follow"},
           {"OTEL_EXPORTER_OTLP_HEADERS", "a=secret%", "a % that no two digits follow"},
           {"OTEL_EXPORTER_OTLP_HEADERS", "a=secret%zz", "a % that no two digits follow"},
           {"OTEL_EXPORTER_OTLP_HEADERS", "a=secret%0d%0aX-Evil:1", "has a value with a line end"},
           {"OTEL_RESOURCE_ATTRIBUTES", "a=%ff", "give UTF-8"},
           {"OTEL_RESOURCE_ATTRIBUTES", "a", "number 1 of its parts"},
           {"OTEL_SERVICE_NAME", "a\nb", "service_name is"},
       }) {
    EXPECT_THAT(refusal([&] { static_cast<void>(from({{r.name, r.value}})); }),
                AllOf(HasSubstr(r.name), HasSubstr(r.problem), Not(HasSubstr("secret"))))
        << r.value;
  }
}

TEST(OtlpEnvironment, IsTheOneOfTheProcess) {
  // Only that it is read: what it says is the business of whoever runs the test.
  EXPECT_NO_THROW(static_cast<void>(otlp_options::from_environment()));
}

}  // namespace
