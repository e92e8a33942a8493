#include <weft/io/socket.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/sync_wait.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/coro/when.hpp>
#include <weft/io/hybrid.hpp>

#include <support/scale.hpp>

#include "io/socket_fixture.hpp"

namespace {

using namespace weft::test;
using weft::hybrid_scheduler;
using weft::io_engine;
using weft::task;

class SocketFaults : public socket_test {};
INSTANTIATE_TEST_SUITE_P(Engines, SocketFaults,
                         testing::Values(io_engine::epoll, io_engine::io_uring),
                         [](const auto& engine) { return std::string(to_string(engine.param)); });

// -- lifetimes ------------------------------------------------------------------------------------

TEST_P(SocketFaults, AcceptGoesOnWhenItsListenerWasMoved) {
  hybrid_scheduler hs(with());
  auto listener = std::make_unique<tcp_listener>(tcp_listener::listen(hs, {}));
  auto accepting = hs.spawn(listener->accept());
  wait_until_awaited(hs, "a connection to come");
  const auto moved_to = std::move(*listener);
  listener.reset();
  auto client = hs.spawn(tcp_stream::connect(hs, {.port = moved_to.port()})).get();
  auto server = accepting.get();
  weft::sync_wait([](tcp_stream& c) -> task<> { co_await c.write_all(bytes_of("!")); }(client));
  EXPECT_EQ(weft::sync_wait(read_exactly(server, 1)), "!");
}

// -- what is read -------------------------------------------------------------------------------

TEST_P(SocketFaults, ReadsOnBehindAnUrgentByte) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
  ASSERT_EQ(::send(client.native_handle(), "abc", 3, 0), 3);
  ASSERT_EQ(::send(client.native_handle(), "!", 1, MSG_OOB), 1);
  ASSERT_EQ(::send(client.native_handle(), "def", 3, 0), 3);
  // All of it is there before the first read, which ends at the urgent byte.
  EXPECT_EQ(hs.spawn(read_exactly(server, 6)).get(), "abcdef");
}

// Others end reads where there is more, or keep messages apart.
TEST_P(SocketFaults, AdoptsNothingButTcp) {
  hybrid_scheduler hs(with());
  for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()), 0);
    const int flags = ::fcntl(ends[0], F_GETFL);
    try {
      static_cast<void>(tcp_stream::adopt(hs, ends[0]));
      ADD_FAILURE() << type;
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::protocol_not_supported);
      EXPECT_THAT(e.what(), testing::HasSubstr("descriptor " + std::to_string(ends[0]) +
                                               ", which must be a connected TCP socket"));
    }
    EXPECT_EQ(::fcntl(ends[0], F_GETFL), flags);
    for (const int end : ends) EXPECT_EQ(::close(end), 0);
  }
  EXPECT_THROW(static_cast<void>(tcp_stream::adopt(hs, -1)), std::system_error);
}

// -- sizes ----------------------------------------------------------------------------------------

// More than the kernel moves in a call, and than an int counts. Few of its pages are touched.
TEST_P(SocketFaults, BuffersMayBeHuge) {
  constexpr std::size_t size = std::size_t{5} << 30;
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no room for so many addresses";
  const std::span huge(static_cast<std::byte*>(memory), size);
  {
    hybrid_scheduler hs(with());
    auto listener = tcp_listener::listen(hs, {});
    auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
    ASSERT_EQ(::send(client.native_handle(), "abc", 3, 0), 3);
    auto read = [](tcp_stream& s, std::span<std::byte> into) -> task<std::size_t> {
      co_return co_await s.read_some(into);
    };
    EXPECT_EQ(hs.spawn(read(server, huge)).get(), 3U);
    auto write = [](tcp_stream& s, std::span<const std::byte> from) -> task<> {
      co_await s.write_all(from);
    };
    auto writing = hs.spawn(write(client, huge));
    EXPECT_EQ(hs.spawn(read_exactly(server, 1'000'000)).get().size(), 1'000'000U);
    writing.request_stop();
    EXPECT_THROW(writing.get(), weft::cancelled);
  }
  ::munmap(memory, size);
}

// -- fork -----------------------------------------------------------------------------------------

// A child has the descriptors and none of the threads, and locks that they held stay locked.
TEST_P(SocketFaults, AForkedChildDestroysSocketsWithoutHarmToTheParent) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto ends = weft::sync_wait(connect_pair(hs, listener));
  auto fork_and_destroy = [](pair& p) -> task<int> {
    co_await p.server.io();
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);  // a child that waits for a lock is ended
      {
        const auto one = std::move(p.server);
        const auto other = std::move(p.client);
      }
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    co_return status;
  };
  // The engine knows both.
  for (const auto* const p : {&ends.client, &ends.server}) {
    ASSERT_EQ(::send(p->native_handle(), "!", 1, 0), 1);
  }
  EXPECT_EQ(hs.spawn(read_exactly(ends.client, 1)).get(), "!");
  EXPECT_EQ(hs.spawn(read_exactly(ends.server, 1)).get(), "!");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(hs.spawn(fork_and_destroy(ends)).get(), 0);
  auto reading = hs.spawn(read_exactly(ends.server, 1));
  wait_until_awaited(hs, "bytes from a socket");
  EXPECT_EQ(hs.spawn(fork_and_destroy(ends)).get(), 0);
  ASSERT_EQ(::send(ends.client.native_handle(), "!", 1, 0), 1);
  EXPECT_EQ(reading.get(), "!");
}

TEST_P(SocketFaults, AForkedChildIsToldThatItCannotUseThem) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto [client, server] = weft::sync_wait(connect_pair(hs, listener));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    std::array<std::byte, 1> buffer{};
    const auto refused = [](const auto& use) {
      try {
        use();
        return false;
      } catch (const weft::used_after_fork&) {
        return true;
      }
    };
    const bool right = refused([&] { static_cast<void>(server.read_some(buffer)); }) &&
                       refused([&] { static_cast<void>(client.write_all(buffer)); }) &&
                       refused([&] { static_cast<void>(listener.accept()); }) &&
                       refused([&] { static_cast<void>(tcp_listener::listen(hs, {})); }) &&
                       refused([&] { static_cast<void>(tcp_stream::connect(hs, {.port = 1})); });
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// -- many at once ---------------------------------------------------------------------------------

// More requests and more completions at once than fit in the queues of io_uring.
TEST_P(SocketFaults, StopsThousandsOfReadersOnOneThreadAtOnce) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  const int connections = weft::test::rounds(4000);
  std::vector<pair> pairs;
  std::vector<weft::spawned<std::string>> reading;
  for (int i = 0; i < connections; ++i) {
    pairs.push_back(weft::sync_wait(connect_pair(hs, listener)));
    end_abruptly(pairs.back().client);
  }
  for (auto& p : pairs) {
    reading.push_back(hs.spawn(read_exactly(p.client, 1)));
    reading.push_back(hs.spawn(read_exactly(p.server, 1)));
  }
  hs.spawn_io([] {}).get();
  for (auto& p : pairs) ASSERT_EQ(::send(p.client.native_handle(), "x", 1, MSG_NOSIGNAL), 1);
  for (auto& r : reading) r.request_stop();
  int ended = 0;
  for (auto& r : reading) {
    try {
      EXPECT_EQ(r.get(), "x");
    } catch (const weft::cancelled&) {
    }
    ++ended;
  }
  EXPECT_EQ(ended, 2 * connections);
}

// Reads, writes, stops, closes and moves between lanes, at random and all at once: everything comes
// to an end, and what is read is what was sent.
class chaos {
 public:
  chaos(hybrid_scheduler& hs, tcp_listener& listener, std::uint64_t seed)
      : hs_(hs), listener_(listener), random_(seed) {}

  void run_round() {
    auto ends = weft::sync_wait(connect_pair(hs_, listener_));
    end_abruptly(ends.client);
    std::vector<weft::spawned<void>> tasks;
    for (tcp_stream* const end : {&ends.client, &ends.server}) {
      tasks.push_back(hs_.spawn(read_on(hs_, *end, random_()), {.lane = any_lane()}));
      tasks.push_back(hs_.spawn(write_on(hs_, *end, random_()), {.lane = any_lane()}));
      tasks.push_back(hs_.spawn(close_once(hs_, *end, random_()), {.lane = any_lane()}));
    }
    for (auto& t : tasks) {
      if (random_() % 3 == 0) t.request_stop();
    }
    // Those who were to close them may have been stopped.
    if (random_() % 2 == 0) hs_.spawn_io([] {}).get();
    ends.client.close();
    ends.server.close();
    for (auto& t : tasks) {
      try {
        t.get();
      } catch (const weft::cancelled&) {
      } catch (const std::system_error&) {
      }
    }
  }

 private:
  weft::lane_kind any_lane() {
    return random_() % 2 == 0 ? weft::lane_kind::io : weft::lane_kind::cpu;
  }

  static task<> hop(hybrid_scheduler& hs, tcp_stream& s, std::uint64_t where) {
    switch (where % 8) {
      case 0:
        co_await hs.cpu();
        break;
      case 1:
        co_await hs.io();
        break;
      case 2:
        co_await s.io();
        break;
      case 3:
        co_await hs.blocking();
        break;
      default:
        break;
    }
  }
  static task<> read_on(hybrid_scheduler& hs, tcp_stream& s, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    unsigned expected = 0;
    for (;;) {
      std::vector<std::byte> buffer(1 + random() % 3000);
      co_await hop(hs, s, random());
      const std::size_t got = co_await s.read_some(buffer);
      if (got == 0) co_return;
      for (const std::byte b : std::span(buffer).first(got)) {
        if (b != static_cast<std::byte>(expected++)) throw std::logic_error("other bytes");
      }
    }
  }
  static task<> write_on(hybrid_scheduler& hs, tcp_stream& s, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    unsigned next = 0;
    for (;;) {
      std::vector<std::byte> buffer(random() % 100'000);
      for (std::byte& b : buffer) b = static_cast<std::byte>(next++);
      co_await hop(hs, s, random());
      co_await s.write_all(buffer);
    }
  }
  static task<> close_once(hybrid_scheduler& hs, tcp_stream& s, std::uint64_t seed) {
    for (std::uint64_t i = seed % 64; i > 0; --i) co_await hop(hs, s, seed >> (i % 32));
    co_await hop(hs, s, seed >> 32);
    s.close();
  }

  hybrid_scheduler& hs_;
  tcp_listener& listener_;
  std::mt19937_64 random_;
};

TEST_P(SocketFaults, EverythingEndsWhateverHappensAtOnce) {
  const std::size_t before = open_descriptors();
  {
    hybrid_scheduler hs(with(2));
    auto listener = tcp_listener::listen(hs, {});
    chaos all(hs, listener, weft::test::announced_seed());
    for (int i = 0; i < weft::test::rounds(3000); ++i) all.run_round();
  }
  wait_until([&] { return open_descriptors() <= before; });
}

}  // namespace
