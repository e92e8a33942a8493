#include <weft/io/use_task.hpp>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <weft/coro/sync_wait.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/coro/when.hpp>
#include <weft/io/asio.hpp>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::system_error;
using weft::hybrid_scheduler;
using weft::task;
using weft::use_task;
using namespace std::chrono_literals;

// On the thread of the engine that serves Asio, and on the one beside the engine that does not.
struct UseTask : testing::TestWithParam<weft::io_engine> {
  hybrid_scheduler hs{{.engine = GetParam()}};
  tcp::acceptor acceptor{weft::io_executor(hs), {asio::ip::address_v4::loopback(), 0}};
};

INSTANTIATE_TEST_SUITE_P(Engines, UseTask,
                         testing::Values(weft::io_engine::epoll, weft::io_engine::io_uring),
                         [](const auto& engine) { return std::string(to_string(engine.param)); });

task<std::pair<tcp::socket, tcp::socket>> connected(hybrid_scheduler& hs, tcp::acceptor& acceptor) {
  auto accept = [](tcp::acceptor& a) -> task<tcp::socket> {
    co_return co_await a.async_accept(use_task);
  };
  auto connect = [](hybrid_scheduler& h, tcp::endpoint to) -> task<tcp::socket> {
    tcp::socket socket(weft::io_executor(h));
    co_await socket.async_connect(to, use_task);
    co_return socket;
  };
  auto [server, client] =
      co_await weft::when_all(accept(acceptor), connect(hs, acceptor.local_endpoint()));
  co_return std::pair(std::move(server), std::move(client));
}

// Nobody else wakes the thread then.
TEST(UseTaskFirst, MayBeAskedForByATaskOnTheThreadThatServesIt) {
  auto wait = [](hybrid_scheduler& h) -> task<bool> {
    asio::steady_timer timer(weft::io_executor(h), 1ms);
    co_await timer.async_wait(use_task);
    co_return true;
  };
  hybrid_scheduler hs({.io_threads = 1, .engine = weft::io_engine::epoll});
  EXPECT_TRUE(hs.spawn_io(wait(hs)).get());
}

TEST_P(UseTask, GivesWhatAnOperationHasDone) {
  auto talk = [](hybrid_scheduler& h, tcp::acceptor& a) -> task<std::string> {
    auto [server, client] = co_await connected(h, a);
    const std::string words = "warp and weft";
    co_await asio::async_write(client, asio::buffer(words), use_task);
    std::string heard(words.size(), ' ');
    const std::size_t n = co_await asio::async_read(server, asio::buffer(heard), use_task);
    co_return heard.substr(0, n);
  };
  EXPECT_EQ(hs.spawn(talk(hs, acceptor)).get(), "warp and weft");
}

TEST_P(UseTask, WorksFromEveryLane) {
  auto talk = [](hybrid_scheduler& h, tcp::acceptor& a) -> task<bool> {
    auto [server, client] = co_await connected(h, a);
    co_await h.cpu();
    const std::string words = "from the cores";
    co_await asio::async_write(client, asio::buffer(words), use_task);
    std::string heard(words.size(), ' ');
    co_await asio::async_read(server, asio::buffer(heard), use_task);
    co_return heard == words&& weft::pool::current() == &h.cpu_pool();
  };
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(hs.spawn(talk(hs, acceptor)).get());
}

TEST_P(UseTask, ThrowsTheErrorOfAnOperation) {
  auto refused = [](hybrid_scheduler& h, tcp::endpoint nobody) -> task<> {
    tcp::socket socket(weft::io_executor(h));
    co_await socket.async_connect(nobody, use_task);
  };
  const auto nobody = acceptor.local_endpoint();
  acceptor.close();
  EXPECT_THROW(hs.spawn(refused(hs, nobody)).get(), system_error);
}

TEST_P(UseTask, GivesTheErrorAsAValueWithAsTuple) {
  auto hung_up = [](hybrid_scheduler& h, tcp::acceptor& a) -> task<bool> {
    auto [server, client] = co_await connected(h, a);
    client.close();
    std::array<char, 8> buffer{};
    auto [error, n] =
        co_await server.async_read_some(asio::buffer(buffer), asio::as_tuple(use_task));
    co_return error == asio::error::eof&& n == 0;
  };
  EXPECT_TRUE(hs.spawn(hung_up(hs, acceptor)).get());
}

TEST_P(UseTask, CancelsAnOperationWhenTheTaskIsAskedToStop) {
  auto reads_for_ever = [](tcp::socket& socket) -> task<> {
    std::array<char, 8> buffer{};
    co_await socket.async_read_some(asio::buffer(buffer), use_task);
  };
  auto gives_up = [](hybrid_scheduler& h, tcp::acceptor& a, auto read) -> task<std::size_t> {
    auto [server, client] = co_await connected(h, a);
    auto timer = []() -> task<> { co_await weft::sleep_for(1ms); };
    auto first = co_await weft::when_any(read(server), timer());
    co_return first.index();
  };
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(hs.spawn(gives_up(hs, acceptor, reads_for_ever)).get(), 1U);
  }
}

// The request to stop and the completion come from different threads, at any distance.
TEST_P(UseTask, AStopThatRacesWithACompletionLosesNothing) {
  auto wait = [](hybrid_scheduler& h) -> task<int> {
    asio::steady_timer timer(weft::io_executor(h), 20us);
    co_await timer.async_wait(use_task);
    co_return 1;
  };
  int completed = 0;
  int cancelled = 0;
  for (int i = 0; i < 2000; ++i) {
    auto future = hs.spawn(wait(hs));
    for (int spin = 0; spin < i % 100 * 20; ++spin) asm volatile("");
    future.request_stop();
    try {
      completed += future.get();
    } catch (const weft::cancelled&) {
      ++cancelled;
    }
  }
  EXPECT_EQ(completed + cancelled, 2000);
}

TEST_P(UseTask, BeginsNothingWhenTheTaskWasAskedToStopBefore) {
  auto stubborn = [](hybrid_scheduler& h) -> task<bool> {
    try {
      co_await weft::sleep_for(1h);
    } catch (const weft::cancelled&) {
    }
    asio::steady_timer timer(weft::io_executor(h), 1h);
    try {
      co_await timer.async_wait(use_task);
    } catch (const weft::cancelled&) {
      co_return true;
    }
    co_return false;
  };
  auto future = hs.spawn(stubborn(hs));
  while (hs.dump().find("a timer") == std::string::npos) std::this_thread::yield();
  future.request_stop();
  EXPECT_TRUE(future.get());
}

}  // namespace
