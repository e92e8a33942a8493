#include "otlp/http_client.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <otlp/test_receiver.hpp>
#include <support/watchdog.hpp>

using testing::HasSubstr;
using namespace std::chrono_literals;

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using weft::otlp::http_client;
using weft::otlp::name_lookup;
using weft::otlp::patience;
using weft::test::received_request;
using weft::test::receiver_answer;
using weft::test::test_receiver;

patience for_long() { return {.end = patience::clock::now() + 24h}; }

unsigned short port_of(const test_receiver& receiver) {
  return static_cast<unsigned short>(
      std::stoi(receiver.endpoint().substr(receiver.endpoint().rfind(':') + 1)));
}

// A client of a host that has these addresses.
http_client client_of(std::vector<std::string> addresses, unsigned short port) {
  return {{.host = "collector",
           .port = std::to_string(port),
           .host_header = "collector:" + std::to_string(port),
           .path = ""},
          {},
          [addresses = std::move(addresses)](const std::string&) {
            return name_lookup::result{.addresses = addresses, .problem = {}};
          }};
}

// A client of a receiver that answers with these bytes and closes the connection.
http_client::outcome outcome_of(const std::string& answer) {
  test_receiver receiver(
      [&](const received_request&, std::size_t) { return receiver_answer{.raw = answer}; });
  http_client client = client_of({"127.0.0.1"}, port_of(receiver));
  return client.post("/v1/traces", "{}", for_long);
}

// An address that never says whether there is a connection: as many wait to be accepted as may.
class black_hole {
 public:
  black_hole(const char* address, unsigned short port)
      : listens_(io_, {asio::ip::make_address(address), port}) {
    static_cast<void>(::listen(listens_.native_handle(), 0));
    do {
      waiting_.emplace_back(io_).connect(listens_.local_endpoint());
    } while (!is_full());
  }

 private:
  // Linux tells how many wait and how many may under these names.
  [[nodiscard]] bool is_full() {
    tcp_info info{};
    socklen_t size = sizeof(info);
    ::getsockopt(listens_.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size);
    return info.tcpi_unacked > info.tcpi_sacked;
  }

  asio::io_context io_;
  tcp::acceptor listens_;
  std::vector<tcp::socket> waiting_;
};

// Answers one connection as soon as it has the headers, and does not read on.
class hasty_server {
 public:
  hasty_server(const asio::ip::address& on, std::string answer)
      : listens_(io_, {on, 0}), answer_(std::move(answer)) {
    thread_ = std::jthread([this] {
      tcp::socket connection = listens_.accept();
      std::string head;
      asio::read_until(connection, asio::dynamic_buffer(head), "\r\n\r\n");
      asio::write(connection, asio::buffer(answer_));
      ended_.wait();
    });
  }
  ~hasty_server() { ended_.count_down(); }
  [[nodiscard]] unsigned short port() const { return listens_.local_endpoint().port(); }

 private:
  asio::io_context io_;
  tcp::acceptor listens_;
  const std::string answer_;
  std::latch ended_{1};
  std::jthread thread_;
};

TEST(OtlpHttpClient, GoesOnToTheNextAddressWhenOneNeverAnswers) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  const black_hole hole("127.0.0.2", port_of(receiver));
  http_client client = client_of({"127.0.0.2", "127.0.0.1"}, port_of(receiver));
  // The end is never reached: only the share of the first address is.
  const auto outcome =
      client.post("/v1/traces", "{}", [] { return patience{.end = patience::clock::now() + 1s}; });
  ASSERT_TRUE(outcome.answer.has_value()) << outcome.problem;
  EXPECT_EQ(outcome.answer->status, 200);
}

TEST(OtlpHttpClient, GoesOnToTheNextAddressWhenOneRefuses) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  http_client client = client_of({"127.0.0.2", "127.0.0.3", "127.0.0.1"}, port_of(receiver));
  EXPECT_TRUE(client.post("/v1/traces", "{}", for_long).answer.has_value());
}

TEST(OtlpHttpClient, SaysOfEveryAddressWhyThereIsNoConnection) {
  const weft::test::watchdog guard(60s);
  const test_receiver receiver([](const auto&, std::size_t) { return receiver_answer(); },
                               test_receiver::mode::begins_later);
  const black_hole hole("127.0.0.2", port_of(receiver));
  http_client client = client_of({"127.0.0.2", "127.0.0.1"}, port_of(receiver));
  const auto outcome =
      client.post("/v1/traces", "{}", [] { return patience{.end = patience::clock::now() + 1s}; });
  EXPECT_FALSE(outcome.answer.has_value());
  EXPECT_TRUE(outcome.may_retry);
  EXPECT_EQ(outcome.problem,
            "cannot connect: 127.0.0.2: the time for it was up, 127.0.0.1: Connection refused; is "
            "a collector running there?");
}

TEST(OtlpHttpClient, ReachesAnIpv6Address) {
  const weft::test::watchdog guard(60s);
  std::optional<hasty_server> server;
  try {
    server.emplace(asio::ip::address_v6::loopback(), "HTTP/1.1 204 No Content\r\n\r\n");
  } catch (const boost::system::system_error& error) {
    GTEST_SKIP() << "this machine has no IPv6: " << error.what();
  }
  const std::string url = "http://[::1]:" + std::to_string(server->port());
  http_client client(weft::otlp::parse_endpoint(url, "here"), {});
  const auto outcome = client.post("/v1/traces", "{}", for_long);
  ASSERT_TRUE(outcome.answer.has_value()) << outcome.problem;
  EXPECT_EQ(outcome.answer->status, 204);
}

TEST(OtlpHttpClient, WaitsForTheAnswerAfterInterimOnes) {
  const weft::test::watchdog guard(60s);
  const auto outcome = outcome_of(
      "HTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}");
  ASSERT_TRUE(outcome.answer.has_value()) << outcome.problem;
  EXPECT_EQ(outcome.answer->status, 503);
  EXPECT_EQ(outcome.answer->retry_after, "7");
  EXPECT_EQ(outcome.answer->body, "{}");
}

TEST(OtlpHttpClient, DoesNotWaitForAnAnswerAfterInterimOnesWithoutEnd) {
  const weft::test::watchdog guard(60s);
  std::string answer;
  for (int i = 0; i <= http_client::interim_max; ++i) answer += "HTTP/1.1 102 Processing\r\n\r\n";
  const auto outcome = outcome_of(answer + "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_FALSE(outcome.answer.has_value());
  EXPECT_TRUE(outcome.may_retry);
  EXPECT_THAT(outcome.problem, HasSubstr("answered 16 times that it goes on"));
}

TEST(OtlpHttpClient, TakesNothingAfterAChangeOfProtocol) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver([](const received_request&, std::size_t index) {
    return index == 0 ? receiver_answer{.status = 101,
                                        .body = "",
                                        .headers = {{"Connection", "upgrade"}, {"Upgrade", "h2c"}}}
                      : receiver_answer();
  });
  http_client client = client_of({"127.0.0.1"}, port_of(receiver));
  const auto outcome = client.post("/v1/traces", "{}", for_long);
  ASSERT_TRUE(outcome.answer.has_value()) << outcome.problem;
  EXPECT_EQ(outcome.answer->status, 101);
  EXPECT_EQ(client.post("/v1/traces", "{}", for_long).answer->status, 200);
  EXPECT_EQ(receiver.connections(), 2U);
}

TEST(OtlpHttpClient, HearsARefusalThatComesBeforeTheRequestWasRead) {
  const weft::test::watchdog guard(60s);
  const hasty_server server(asio::ip::address_v4::loopback(),
                            "HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo much");
  http_client client = client_of({"127.0.0.1"}, server.port());
  // More than fits into the buffers on the way.
  const auto outcome =
      client.post("/v1/traces", std::string(std::size_t{64} << 20U, ' '), for_long);
  ASSERT_TRUE(outcome.answer.has_value()) << outcome.problem;
  EXPECT_EQ(outcome.answer->status, 413);
  EXPECT_EQ(outcome.answer->body, "too much");
}

TEST(OtlpHttpClient, DoesNotReadWithoutEndBetweenTheChunksOfAnAnswer) {
  const weft::test::watchdog guard(60s);
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* begin : {"1;", "1\r\nx\r\n0\r\na: "}) {
    const auto outcome = outcome_of(head + begin + std::string(std::size_t{2} << 20U, 'x'));
    EXPECT_FALSE(outcome.answer.has_value());
    EXPECT_FALSE(outcome.may_retry);
    EXPECT_THAT(outcome.problem, HasSubstr("headers without end"));
  }
}

TEST(OtlpHttpClient, DoesNotTakeAnAnswerThatWasCutShort) {
  const weft::test::watchdog guard(60s);
  for (const char* answer : {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n{}",
                             "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
                             "HTTP/1.1 200 OK\r\nContent-Len", "HTTP/1.1 100 Continue\r\n\r\n"}) {
    const auto outcome = outcome_of(answer);
    EXPECT_FALSE(outcome.answer.has_value()) << answer;
    EXPECT_TRUE(outcome.may_retry) << answer;
    EXPECT_THAT(outcome.problem, HasSubstr("no answer came")) << answer;
  }
}

TEST(OtlpHttpClient, AsksForAnswersThatItCanRead) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  http_client client = client_of({"127.0.0.1"}, port_of(receiver));
  static_cast<void>(client.post("/v1/traces", "{}", for_long));
  const auto requests = receiver.requests();
  EXPECT_EQ(requests.at(0).headers.at("accept"), "application/json");
  EXPECT_EQ(requests.at(0).headers.at("accept-encoding"), "identity");
}

TEST(OtlpHttpClient, LetsWhoeverWaitsDoSomethingElseMeanwhile) {
  const weft::test::watchdog guard(60s);
  std::latch received(1);
  std::latch did_something(1);
  test_receiver receiver([&](const received_request&, std::size_t) {
    received.count_down();
    did_something.wait();
    return receiver_answer();
  });
  http_client client = client_of({"127.0.0.1"}, port_of(receiver));
  int questions = 0;
  const auto outcome = client.post("/v1/traces", "{}", [&] {
    // Some come with what happens on the way there.
    if (received.try_wait() && ++questions == 5) did_something.count_down();
    return patience{.end = for_long().end, .next = patience::clock::now() + 1ms};
  });
  EXPECT_TRUE(outcome.answer.has_value());
}

// Else a reading that takes longer than the interval of readings would end all sending.
TEST(OtlpHttpClient, GoesOnAlthoughWhoeverWaitsAlwaysHasSomethingElseToDo) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  http_client client = client_of({"127.0.0.1"}, port_of(receiver));
  const auto outcome = client.post("/v1/traces", "{}", [] {
    return patience{.end = for_long().end, .next = patience::clock::now() - 1ms};
  });
  EXPECT_TRUE(outcome.answer.has_value());
}

TEST(OtlpHttpClient, LeavesItsConnectionToNoProgramThatIsStarted) {
  const weft::test::watchdog guard(60s);
  test_receiver receiver;
  http_client client = client_of({"127.0.0.1"}, port_of(receiver));
  static_cast<void>(client.post("/v1/traces", "{}", for_long));
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    sockaddr_in peer{};
    socklen_t size = sizeof(peer);
    if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (peer.sin_family != AF_INET || ntohs(peer.sin_port) != port_of(receiver)) continue;
    ++seen;
    EXPECT_NE(::fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(seen, 1);
}

}  // namespace
