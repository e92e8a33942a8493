#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <weft/coro/task.hpp>
#include <weft/io/hybrid.hpp>
#include <weft/io/socket.hpp>

#include <support/watchdog.hpp>

// What the tests of sockets share.
namespace weft::test {

using io::tcp_listener;
using io::tcp_stream;

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline task<std::string> read_exactly(tcp_stream& stream, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const auto rest = std::as_writable_bytes(std::span(text)).subspan(at);
    const std::size_t got = co_await stream.read_some(rest);
    if (got == 0) {
      text.resize(at);
      break;
    }
    at += got;
  }
  co_return text;
}

// A connection and its other end.
struct pair {
  tcp_stream client;
  tcp_stream server;
};

inline task<pair> connect_pair(hybrid_scheduler& hs, tcp_listener& listener) {
  auto client = co_await tcp_stream::connect(hs, {.port = listener.port()});
  auto server = co_await listener.accept();
  co_return pair{std::move(client), std::move(server)};
}

// Ends a connection without the state that the kernel keeps for a minute after a tidy end.
inline void end_abruptly(const tcp_stream& stream) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(stream.native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

// Waits until a condition holds that nobody signals: what another task awaits.
void wait_until(const auto& holds) {
  while (!holds()) std::this_thread::yield();
}
inline void wait_until_awaited(const hybrid_scheduler& hs, const std::string& what) {
  wait_until([&] { return hs.dump().find(what) != std::string::npos; });
}

inline std::string why_not_io_uring() {
  try {
    const hybrid_scheduler hs({.cpu_workers = 1, .engine = io_engine::io_uring});
    return "";
  } catch (const std::system_error& e) {
    return e.what();
  }
}

// Each test runs with each engine that starts here.
class socket_test : public testing::TestWithParam<io_engine> {
 protected:
  explicit socket_test(std::chrono::seconds limit = std::chrono::seconds(60)) : watchdog_(limit) {}
  void SetUp() override {
    if (GetParam() != io_engine::io_uring) return;
    const std::string why = why_not_io_uring();
    if (!why.empty()) GTEST_SKIP() << why;
  }
  static hybrid_options with(unsigned io_threads = 1) {
    hybrid_options options;
    options.cpu_workers = 1;
    options.io_threads = io_threads;
    options.engine = GetParam();
    return options;
  }

  watchdog watchdog_;
};

}  // namespace weft::test
