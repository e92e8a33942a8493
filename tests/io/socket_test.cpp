#include <weft/io/socket.hpp>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <weft/coro/sync_wait.hpp>
#include <weft/io/asio.hpp>
#include <weft/io/hybrid.hpp>

#include <support/forbid_call.hpp>
#include <support/live_threads.hpp>
#include <support/resident_memory.hpp>
#include <support/scale.hpp>

#include "io/socket_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using namespace weft::test;
using testing::HasSubstr;
using weft::hybrid_scheduler;
using weft::io_engine;
using weft::task;

task<> echo(tcp_stream stream) {
  std::array<std::byte, 4096> buffer;
  while (const std::size_t size = co_await stream.read_some(buffer)) {
    co_await stream.write_all(std::span(buffer).first(size));
  }
}

class Socket : public socket_test {};
INSTANTIATE_TEST_SUITE_P(Engines, Socket, testing::Values(io_engine::epoll, io_engine::io_uring),
                         [](const auto& engine) { return std::string(to_string(engine.param)); });

// -- transfer -------------------------------------------------------------------------------------

TEST_P(Socket, EchoesWhatIsSent) {
  hybrid_scheduler hs(with());
  EXPECT_EQ(hs.engine(), GetParam());
  EXPECT_EQ(hs.stats().engine, GetParam());
  auto listener = tcp_listener::listen(hs, {});
  auto talk = [](hybrid_scheduler& h, tcp_listener& l) -> task<std::string> {
    auto [client, server] = co_await connect_pair(h, l);
    auto serving = h.spawn(echo(std::move(server)));
    co_await client.write_all(bytes_of("hello"));
    auto answer = co_await read_exactly(client, 5);
    client.close();
    co_await std::move(serving);
    co_return answer;
  };
  EXPECT_EQ(hs.spawn(talk(hs, listener)).get(), "hello");
}

TEST_P(Socket, WorksOverIpv6) {
  hybrid_scheduler hs(with());
  auto listener = [&]() -> std::optional<tcp_listener> {
    try {
      return tcp_listener::listen(hs, {.address = "::1"});
    } catch (const std::system_error&) {
      return std::nullopt;
    }
  }();
  if (!listener) GTEST_SKIP() << "no IPv6 here";
  auto talk = [](hybrid_scheduler& h, tcp_listener& l) -> task<std::string> {
    auto client = co_await tcp_stream::connect(h, {.address = "::1", .port = l.port()});
    auto server = co_await l.accept();
    EXPECT_EQ(client.peer(), "[::1]:" + std::to_string(l.port()));
    EXPECT_THAT(server.peer(), HasSubstr("[::1]:"));
    co_await client.write_all(bytes_of("six"));
    co_return co_await read_exactly(server, 3);
  };
  EXPECT_EQ(hs.spawn(talk(hs, *listener)).get(), "six");
}

TEST_P(Socket, MovesMoreThanTheKernelKeeps) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto talk = [](hybrid_scheduler& h, tcp_listener& l) -> task<bool> {
    auto [client, server] = co_await connect_pair(h, l);
    std::string sent(20'000'000, '\0');
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 31 >> 8);
    auto writing = h.spawn([](tcp_stream c, const std::string& text) -> task<> {
      co_await c.write_all(bytes_of(text));
    }(std::move(client), sent));
    const auto got = co_await read_exactly(server, sent.size() + 1);
    co_await std::move(writing);
    co_return got == sent;
  };
  EXPECT_TRUE(hs.spawn(talk(hs, listener)).get());
}

TEST_P(Socket, ManyConnectionsAtOnceOnTwoThreads) {
  hybrid_scheduler hs(with(2));
  auto listener = tcp_listener::listen(hs, {});
  const int connections = weft::test::rounds(1000);
  auto serve = hs.spawn([](hybrid_scheduler& h, tcp_listener& l, int count) -> task<> {
    std::vector<weft::spawned<void>> serving;
    for (int i = 0; i < count; ++i) serving.push_back(h.spawn(echo(co_await l.accept())));
    for (auto& s : serving) co_await std::move(s);
  }(hs, listener, connections));
  auto ask = [](hybrid_scheduler& h, std::uint16_t port, int number) -> task<bool> {
    auto client = co_await tcp_stream::connect(h, {.port = port});
    end_abruptly(client);
    bool right = true;
    for (int i = 0; i < 10; ++i) {
      const std::string question = std::to_string(number) + " asks " + std::to_string(i);
      co_await client.write_all(bytes_of(question));
      right = right && co_await read_exactly(client, question.size()) == question;
    }
    client.shutdown_send();
    right = right && (co_await read_exactly(client, 1)).empty();
    co_return right;
  };
  std::vector<weft::spawned<bool>> asking;
  for (int i = 0; i < connections; ++i) asking.push_back(hs.spawn(ask(hs, listener.port(), i)));
  for (auto& a : asking) EXPECT_TRUE(a.get());
  serve.get();
}

TEST_P(Socket, AcceptedConnectionsBelongToTheIoThreadsInTurn) {
  hybrid_scheduler hs(with(2));
  auto listener = tcp_listener::listen(hs, {});
  auto look = [](hybrid_scheduler& h, tcp_listener& l) -> task<bool> {
    auto one = co_await connect_pair(h, l);
    auto other = co_await connect_pair(h, l);
    co_await one.server.io();
    const auto thread_of_one = std::this_thread::get_id();
    co_await other.server.io();
    co_return thread_of_one != std::this_thread::get_id();
  };
  EXPECT_TRUE(hs.spawn(look(hs, listener)).get());
}

TEST_P(Socket, IsUsedFromEveryLane) {
  hybrid_scheduler hs(with(2));
  auto listener = tcp_listener::listen(hs, {});
  auto tour = [](hybrid_scheduler& h, tcp_listener& l) -> task<int> {
    auto [client, server] = co_await connect_pair(h, l);
    auto serving = h.spawn(echo(std::move(server)));
    int right = 0;
    for (int i = 0; i < weft::test::rounds(1000); ++i) {
      co_await h.cpu();
      co_await client.write_all(bytes_of("ping"));
      if (i % 2 == 0) co_await client.io();
      if (i % 3 == 0) co_await h.blocking();
      right += co_await read_exactly(client, 4) == "ping" ? 1 : 0;
    }
    client.close();
    co_await std::move(serving);
    co_return right;
  };
  EXPECT_EQ(hs.spawn(tour(hs, listener)).get(), weft::test::rounds(1000));
}

TEST_P(Socket, WorksFromAThreadThatIsNoneOfTheSchedulers) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
  auto talk = [](tcp_stream& c, tcp_stream& s) -> task<std::string> {
    co_await c.write_all(bytes_of("from outside"));
    co_return co_await read_exactly(s, 12);
  };
  EXPECT_EQ(weft::sync_wait(talk(client, server)), "from outside");
}

TEST_P(Socket, MovingNoBytesTakesNoTime) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto talk = [](hybrid_scheduler& h, tcp_listener& l) -> task<std::size_t> {
    auto [client, server] = co_await connect_pair(h, l);
    co_await client.write_all({});
    co_return co_await server.read_some({});
  };
  EXPECT_EQ(hs.spawn(talk(hs, listener)).get(), 0U);
}

// A reader that always finds bytes must not keep the thread for itself.
TEST_P(Socket, ABusyConnectionLetsOthersHaveTheirTurn) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
  auto flood = hs.spawn([](tcp_stream& c) -> task<> {
    const std::string much(100'000, 'x');
    for (;;) co_await c.write_all(bytes_of(much));
  }(client));
  auto drain = hs.spawn([](tcp_stream& s) -> task<> {
    std::array<std::byte, 64> little;
    while (co_await s.read_some(little) > 0) {
    }
  }(server));
  EXPECT_EQ(hs.spawn_io([] { return 1; }).get(), 1);
  flood.request_stop();
  EXPECT_THROW(flood.get(), weft::cancelled);
  drain.request_stop();
  EXPECT_THROW(drain.get(), weft::cancelled);
}

// -- ends -----------------------------------------------------------------------------------------

TEST_P(Socket, ReadsToTheEndAfterTheOtherSideHasStoppedSending) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto talk = [](hybrid_scheduler& h, tcp_listener& l) -> task<std::string> {
    auto [client, server] = co_await connect_pair(h, l);
    co_await client.write_all(bytes_of("question"));
    client.shutdown_send();
    const auto question = co_await read_exactly(server, 100);
    EXPECT_TRUE((co_await read_exactly(server, 1)).empty());
    co_await server.write_all(bytes_of(question + " answered"));
    server.close();
    co_return co_await read_exactly(client, 100);
  };
  for (int i = 0; i < weft::test::rounds(200); ++i) {
    ASSERT_EQ(hs.spawn(talk(hs, listener)).get(), "question answered");
  }
}

TEST_P(Socket, SaysThatTheOtherSideIsGone) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto talk = [](hybrid_scheduler& h, tcp_listener& l) -> task<std::string> {
    auto [client, server] = co_await connect_pair(h, l);
    end_abruptly(client);
    client.close();
    try {
      co_await read_exactly(server, 1);
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::connection_reset);
      EXPECT_THAT(e.what(), HasSubstr("weft: read from 127.0.0.1:"));
    }
    try {
      for (;;) co_await server.write_all(bytes_of("is anybody there?"));
    } catch (const std::system_error& e) {
      co_return e.what();
    }
  };
  EXPECT_THAT(hs.spawn(talk(hs, listener)).get(), HasSubstr("weft: write to 127.0.0.1:"));
}

TEST_P(Socket, SaysWhomItCouldNotReach) {
  hybrid_scheduler hs(with());
  std::uint16_t port = 0;
  {
    port = tcp_listener::listen(hs, {}).port();
  }
  hs.spawn_io([] {}).get();
  try {
    auto stream = hs.spawn(tcp_stream::connect(hs, {.port = port})).get();
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::connection_refused);
    EXPECT_THAT(e.what(), HasSubstr("weft: connect to 127.0.0.1:" + std::to_string(port)));
  }
}

TEST_P(Socket, SaysWhereItCannotListen) {
  hybrid_scheduler hs(with());
  auto first = tcp_listener::listen(hs, {});
  try {
    auto second = tcp_listener::listen(hs, {.port = first.port()});
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::address_in_use);
    EXPECT_THAT(e.what(), HasSubstr("weft: listen on 127.0.0.1:" + std::to_string(first.port())));
  }
}

TEST_P(Socket, RefusesNames) {
  hybrid_scheduler hs(with());
  for (const std::string& name : {std::string("localhost"), std::string(),
                                  std::string("127.0.0.1\0x", 11), std::string("1.2.3.4\n")}) {
    try {
      auto listener = tcp_listener::listen(hs, {.address = name});
      ADD_FAILURE() << name;
    } catch (const std::invalid_argument& e) {
      EXPECT_THAT(e.what(), HasSubstr("blocking lane"));
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_THROW(static_cast<void>(tcp_stream::connect(hs, {.address = "localhost"})),
               std::invalid_argument);
}

TEST_P(Socket, RefusesASecondReadAtOnce) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
  auto first = hs.spawn(read_exactly(server, 1));
  wait_until_awaited(hs, "bytes from a socket");
  EXPECT_THROW(hs.spawn(read_exactly(server, 1)).get(), std::logic_error);
  client.close();
  EXPECT_EQ(first.get(), "");
}

TEST_P(Socket, RefusesToBeUsedAfterAMove) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  const auto moved_to = std::move(listener);
  EXPECT_THROW(static_cast<void>(listener.port()), std::logic_error);
  EXPECT_GT(moved_to.port(), 0);
}

// -- calling off ----------------------------------------------------------------------------------

TEST_P(Socket, AReaderCanBeStopped) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
  for (const auto lane : {weft::lane_kind::io, weft::lane_kind::cpu}) {
    auto reading = hs.spawn(read_exactly(server, 1), {.lane = lane});
    wait_until_awaited(hs, "bytes from a socket");
    reading.request_stop();
    EXPECT_THROW(reading.get(), weft::cancelled);
  }
  weft::sync_wait([](tcp_stream& c) -> task<> { co_await c.write_all(bytes_of("!")); }(client));
  EXPECT_EQ(weft::sync_wait(read_exactly(server, 1)), "!");
}

TEST_P(Socket, AWriterThatFindsNoRoomCanBeStopped) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
  const std::string much(50'000'000, 'x');
  auto writing = hs.spawn([](tcp_stream& c, const std::string& text) -> task<> {
    co_await c.write_all(bytes_of(text));
  }(client, much));
  wait_until_awaited(hs, "room in a socket");
  writing.request_stop();
  EXPECT_THROW(writing.get(), weft::cancelled);
}

TEST_P(Socket, AListenerCanBeStoppedAndAcceptsLater) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto accepting = hs.spawn(listener.accept());
  wait_until_awaited(hs, "a connection to come");
  accepting.request_stop();
  EXPECT_THROW(accepting.get(), weft::cancelled);
  static_cast<void>(weft::sync_wait(connect_pair(hs, listener)));
}

// A listener whose queue is full does not answer, so one who wants to connect waits.
TEST_P(Socket, AConnectThatNobodyAnswersCanBeStopped) {
  hybrid_scheduler hs(with());
  const int deaf = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(deaf, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(deaf, 0), 0);
  ::getsockname(deaf, reinterpret_cast<sockaddr*>(&address), &size);
  std::vector<weft::spawned<tcp_stream>> connecting;
  for (int i = 0; i < 4; ++i) {
    connecting.push_back(hs.spawn(tcp_stream::connect(hs, {.port = ntohs(address.sin_port)})));
  }
  wait_until_awaited(hs, "a connection to be made");
  for (auto& c : connecting) c.request_stop();
  int stopped = 0;
  for (auto& c : connecting) {
    try {
      static_cast<void>(c.get());
    } catch (const weft::cancelled&) {
      ++stopped;
    }
  }
  EXPECT_GT(stopped, 0);
  ::close(deaf);
}

TEST_P(Socket, ATaskThatWasStoppedBeginsNoOperation) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
  auto reading = hs.spawn(
      [](tcp_stream& s) -> task<> {
        while (!co_await weft::this_task::stop_requested())
          co_await weft::schedule_on(*co_await weft::this_task::lane());
        co_await read_exactly(s, 1);
      }(server),
      {.lane = weft::lane_kind::cpu});
  wait_until_awaited(hs, "runs");
  reading.request_stop();
  EXPECT_THROW(reading.get(), weft::cancelled);
}

// The request to stop and the bytes are on their way at the same time, from and to both lanes.
TEST_P(Socket, StoppingAndCompletingAtTheSameTimeLosesNothing) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
  int received = 0;
  const int rounds = weft::test::rounds(4000);
  for (int i = 0; i < rounds; ++i) {
    const auto lane = i % 2 == 0 ? weft::lane_kind::io : weft::lane_kind::cpu;
    auto reading = hs.spawn(read_exactly(server, 1), {.lane = lane});
    auto writing =
        hs.spawn([](tcp_stream& c) -> task<> { co_await c.write_all(bytes_of("x")); }(client));
    if (i % 4 < 2) std::this_thread::yield();
    reading.request_stop();
    try {
      received += static_cast<int>(reading.get().size());
    } catch (const weft::cancelled&) {
    }
    writing.get();
  }
  client.close();
  received += static_cast<int>(weft::sync_wait(read_exactly(server, 1'000'000)).size());
  EXPECT_EQ(received, rounds);
}

TEST_P(Socket, ClosingEndsWhatIsPending) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
  auto reading = hs.spawn(read_exactly(server, 1));
  wait_until_awaited(hs, "bytes from a socket");
  server.close();
  try {
    reading.get();
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("the socket was closed meanwhile"));
  }
  EXPECT_EQ(weft::sync_wait(read_exactly(client, 1)), "");
  EXPECT_THROW(hs.spawn(read_exactly(server, 1)).get(), std::system_error);
  EXPECT_THROW(server.shutdown_send(), std::system_error);
  server.close();

  auto accepting = hs.spawn(listener.accept());
  wait_until_awaited(hs, "a connection to come");
  listener.close();
  EXPECT_THROW(static_cast<void>(accepting.get()), std::system_error);
}

TEST_P(Socket, CanBeDestroyedWhileAnOperationIsPending) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto ends = weft::sync_wait(connect_pair(hs, listener));
  auto reading = hs.spawn([](tcp_stream& s) -> task<> {
    std::array<std::byte, 1> buffer;
    static_cast<void>(co_await s.read_some(buffer));
  }(ends.server));
  wait_until_awaited(hs, "bytes from a socket");
  {
    const auto gone = std::move(ends.server);
  }
  EXPECT_THROW(reading.get(), std::system_error);
}

// -- many, and for long ---------------------------------------------------------------------------

TEST_P(Socket, TheSchedulerStopsWithAThousandIdleConnections) {
  const int connections = weft::test::rounds(1000);
  const std::size_t before = open_descriptors();
  {
    hybrid_scheduler hs(with(2));
    auto listener = tcp_listener::listen(hs, {});
    for (int i = 0; i < connections; ++i) {
      auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
      end_abruptly(client);
      for (tcp_stream* const end : {&client, &server}) {
        static_cast<void>(hs.spawn([](tcp_stream s) -> task<> {
          try {
            co_await read_exactly(s, 1);
          } catch (const std::exception&) {
          }
        }(std::move(*end))));
      }
    }
    const auto report = hs.shutdown({.let_run = 0ms, .then_stop = 30s});
    EXPECT_TRUE(report.unfinished.empty());
  }
  wait_until([&] { return open_descriptors() <= before; });
}

// WEFT_TEST_CONNECTIONS=1000000 asks for as many.
int connections_for_long() {
  const char* const given = std::getenv("WEFT_TEST_CONNECTIONS");
  return given != nullptr ? std::stoi(given) : weft::test::rounds(100'000);
}

class SocketForLong : public socket_test {
 protected:
  SocketForLong() : socket_test(60s + connections_for_long() / 1000 * 1s) {}
};
INSTANTIATE_TEST_SUITE_P(Engines, SocketForLong,
                         testing::Values(io_engine::epoll, io_engine::io_uring),
                         [](const auto& engine) { return std::string(to_string(engine.param)); });

TEST_P(SocketForLong, DescriptorsThreadsAndMemoryStayTheSameOverManyConnections) {
  hybrid_scheduler hs(with(2));
  auto listener = tcp_listener::listen(hs, {});
  auto serve = hs.spawn([](hybrid_scheduler& h, tcp_listener& l) -> task<> {
    for (;;) {
      static_cast<void>(h.spawn([](tcp_stream s) -> task<> {
        try {
          co_await echo(std::move(s));
        } catch (const std::exception&) {  // the client ends abruptly
        }
      }(co_await l.accept())));
    }
  }(hs, listener));
  auto visit = [](hybrid_scheduler& h, std::uint16_t port) -> task<> {
    auto client = co_await tcp_stream::connect(h, {.port = port});
    end_abruptly(client);
    co_await client.write_all(bytes_of("hello"));
    EXPECT_EQ(co_await read_exactly(client, 5), "hello");
  };
  constexpr int at_once = 200;
  const auto batch = [&] {
    std::vector<weft::spawned<void>> visits;
    for (int i = 0; i < at_once; ++i) visits.push_back(hs.spawn(visit(hs, listener.port())));
    for (auto& v : visits) v.get();
    wait_until([&] { return hs.stats().live == 1; });  // the listener
    hs.spawn_io([] {}).get();
  };
  for (int i = 0; i < 3; ++i) batch();
  const std::size_t descriptors = open_descriptors();
  const std::size_t threads_before = live_threads();
  const std::size_t memory = resident_kib();
  for (int i = 0; i < connections_for_long(); i += at_once) batch();
  wait_until([&] { return open_descriptors() <= descriptors; });
  EXPECT_EQ(live_threads(), threads_before);
  const std::size_t memory_after = resident_kib();
  if (!weft::test::under_sanitizer) {
    EXPECT_LT(memory_after, memory + 8 * 1024);
  }
  std::cout << connections_for_long() << " connections: descriptors " << descriptors << " -> "
            << open_descriptors() << ", threads " << threads_before << " -> " << live_threads()
            << ", resident " << memory << " -> " << memory_after << " KiB\n";
  serve.request_stop();
  EXPECT_THROW(serve.get(), weft::cancelled);
}

TEST_P(Socket, AcceptGoesOnAfterItFoundNoDescriptorLeft) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto client = hs.spawn(tcp_stream::connect(hs, {.port = listener.port()})).get();
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  // The lowest number that is free is the limit: nothing can be opened.
  const int free_number = ::dup(0);
  ASSERT_GE(free_number, 0);
  ::close(free_number);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(free_number);
  ::setrlimit(RLIMIT_NOFILE, &none);
  for (int i = 0; i < 3; ++i) {
    try {
      static_cast<void>(hs.spawn(listener.accept()).get());
      ADD_FAILURE();
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::too_many_files_open);
      EXPECT_THAT(e.what(), HasSubstr("weft: accept on 127.0.0.1:"));
      EXPECT_THAT(e.what(), HasSubstr("ulimit -n"));
    }
  }
  try {
    static_cast<void>(tcp_listener::listen(hs, {}));
    ADD_FAILURE();
  } catch (const std::system_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("weft: listen on 127.0.0.1:0: no descriptor is left"));
  }
  try {
    static_cast<void>(hs.spawn(tcp_stream::connect(hs, {.port = listener.port()})).get());
    ADD_FAILURE();
  } catch (const std::system_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("ulimit -n"));
  }
  // The sanitizer needs descriptors of its own to look at Boost's exception.
  if (!weft::test::under_asan) {
    EXPECT_THROW(hybrid_scheduler{with()}, std::system_error);
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  auto server = hs.spawn(listener.accept()).get();
  weft::sync_wait([](tcp_stream& c) -> task<> { co_await c.write_all(bytes_of("!")); }(client));
  EXPECT_EQ(weft::sync_wait(read_exactly(server, 1)), "!");
}

// -- beside Asio ----------------------------------------------------------------------------------

TEST_P(Socket, AsioOperationsWorkBesideIt) {
  namespace asio = boost::asio;
  using asio::ip::tcp;
  hybrid_scheduler hs(with(2));
  auto listener = tcp_listener::listen(hs, {});
  auto serving =
      hs.spawn([](tcp_listener& l) -> task<> { co_await echo(co_await l.accept()); }(listener));
  auto talk = [](hybrid_scheduler& h, std::uint16_t port) -> task<std::string> {
    tcp::socket socket(weft::io_executor(h));
    co_await socket.async_connect({asio::ip::address_v4::loopback(), port}, weft::use_task);
    std::string text = "hello";
    co_await socket.async_send(asio::buffer(text), weft::use_task);
    text.assign(5, '\0');
    co_await socket.async_receive(asio::buffer(text), weft::use_task);
    co_return text;
  };
  EXPECT_EQ(hs.spawn(talk(hs, listener.port())).get(), "hello");
  serving.get();

  auto wait = [](hybrid_scheduler& h) -> task<> {
    asio::steady_timer timer(weft::io_executor(h), 1h);
    co_await timer.async_wait(weft::use_task);
  };
  auto waiting = hs.spawn(wait(hs));
  wait_until_awaited(hs, "an I/O operation");
  waiting.request_stop();
  EXPECT_THROW(waiting.get(), weft::cancelled);
}

TEST_P(Socket, AdoptsAConnectionThatWasMadeElsewhere) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  const int raw = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_THROW(static_cast<void>(tcp_stream::adopt(hs, raw)), std::system_error);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(listener.port());
  ASSERT_EQ(::connect(raw, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  auto client = tcp_stream::adopt(hs, raw);
  auto server = hs.spawn(listener.accept()).get();
  weft::sync_wait([](tcp_stream& c) -> task<> { co_await c.write_all(bytes_of("!")); }(client));
  EXPECT_EQ(weft::sync_wait(read_exactly(server, 1)), "!");
}

// -- engines --------------------------------------------------------------------------------------

TEST(IoEngine, AutomaticTakesOneThatRuns) {
  const hybrid_scheduler hs({.cpu_workers = 1});
  EXPECT_EQ(hs.engine(), why_not_io_uring().empty() ? io_engine::io_uring : io_engine::epoll);
  EXPECT_EQ(hs.stats().engine, hs.engine());
}

TEST(IoEngine, MustBeOneOfThose) {
  weft::hybrid_options options;
  options.engine = static_cast<io_engine>(7);
  EXPECT_THROW(hybrid_scheduler{options}, std::invalid_argument);
}

[[noreturn]] void try_without_io_uring() {
  // As in containers.
  if (!weft::test::forbid_call(__NR_io_uring_setup)) std::_Exit(77);
  const bool falls_back = hybrid_scheduler({.cpu_workers = 1}).engine() == io_engine::epoll;
  std::fprintf(stderr, "%s\n", why_not_io_uring().c_str());
  std::_Exit(falls_back ? 0 : 1);
}

TEST(IoEngineDeathTest, SaysThatIoUringIsForbiddenAndAutomaticFallsBack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(try_without_io_uring(), testing::ExitedWithCode(0),
              testing::HasSubstr("kernel.io_uring_disabled or a seccomp filter"));
}

}  // namespace
