// A kernel that refuses: some of the calls that engines make are replaced in this program.

#include <liburing.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/sync_wait.hpp>
#include <weft/io/hybrid.hpp>
#include <weft/io/socket.hpp>

#include "io/reactor.hpp"
#include "io/socket_fixture.hpp"

#include <support/forbid_call.hpp>

namespace {

// So many of the next calls are refused with that error.
class refusal {
 public:
  static constexpr int always = -1;

  void refuse(int error, int times) {
    const std::lock_guard lock(mutex_);
    error_ = error;
    left_ = times;
  }
  // 0: this one is not.
  int next() {
    const std::lock_guard lock(mutex_);
    if (left_ == 0) return 0;
    if (left_ != always) --left_;
    return error_;
  }
  int left() {
    const std::lock_guard lock(mutex_);
    return left_;
  }

 private:
  std::mutex mutex_;
  int error_ = 0;
  int left_ = 0;
};

refusal submits;
refusal accepts;
refusal watches;

}  // namespace

extern "C" {

int io_uring_submit(io_uring* ring) {
  if (const int error = submits.next()) return -error;
  return ::io_uring_submit_and_wait(ring, 0);
}

int epoll_ctl(int set, int operation, int fd, epoll_event* event) noexcept {
  if (const int error = operation == EPOLL_CTL_ADD ? watches.next() : 0) {
    errno = error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_epoll_ctl, set, operation, fd, event));
}

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  if (const int error = accepts.next()) {
    errno = error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_accept4, fd, address, size, flags));
}
}

namespace {

using namespace weft::test;
using testing::HasSubstr;
using weft::hybrid_scheduler;
using weft::io_engine;
using weft::task;

class ReactorFaults : public socket_test {};
INSTANTIATE_TEST_SUITE_P(Engines, ReactorFaults,
                         testing::Values(io_engine::epoll, io_engine::io_uring),
                         [](const auto& engine) { return std::string(to_string(engine.param)); });

// Of calls that only this engine makes.
class EpollFaults : public socket_test {};
INSTANTIATE_TEST_SUITE_P(Engine, EpollFaults, testing::Values(io_engine::epoll),
                         [](const auto& engine) { return std::string(to_string(engine.param)); });

// One end of a local connection, and a read from it of which the engine tells.
class probe final : public weft::io::socket_operation {
 public:
  explicit probe(const weft::io::reactor& engine)
      : socket_operation(kind::receive, bytes{&byte_, 1}) {
    const int type = SOCK_STREAM | SOCK_CLOEXEC | (engine.wants_nonblocking() ? SOCK_NONBLOCK : 0);
    EXPECT_EQ(::socketpair(AF_UNIX, type, 0, ends_.data()), 0);
    own_.fd = ends_[0];
    own_.input = this;
    socket = &own_;
  }
  ~probe() {
    for (const int end : ends_) ::close(end);
  }
  void done() noexcept override {
    own_.input = nullptr;
    ++told;
  }
  void send_byte() { EXPECT_EQ(::send(ends_[1], "x", 1, 0), 1); }
  // Before the engine comes to it. False: it was quicker.
  [[nodiscard]] bool steal_byte() {
    char stolen = 0;
    return ::recv(ends_[0], &stolen, 1, MSG_DONTWAIT) == 1;
  }
  weft::io::reactor_socket& own() { return own_; }

  int told = 0;

 private:
  std::array<int, 2> ends_{};
  weft::io::reactor_socket own_;
  char byte_ = 0;
};

// As while completions that nobody has taken fill the queues of the kernel: the thread must go and
// take them, not insist.
TEST_P(ReactorFaults, RequestsThatFindNoRoomWaitForIt) {
  const auto engine = weft::io::make_reactor(GetParam());
  std::vector<std::unique_ptr<probe>> probes;
  for (int i = 0; i < 3000; ++i) probes.push_back(std::make_unique<probe>(*engine));
  submits.refuse(EBUSY, refusal::always);
  const auto is_stopped = [](std::size_t i) { return i % 2 == 0; };
  const auto has_byte = [](std::size_t i) { return i % 3 == 0; };
  for (const auto& p : probes) engine->start(*p);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (is_stopped(i)) engine->cancel(*probes[i]);
    if (i % 4 == 0) engine->cancel(*probes[i]);  // by whoever closes the socket
    if (has_byte(i)) probes[i]->send_byte();
  }
  const auto run_until_told = [&](const auto& which) {
    for (std::size_t i = 0; i < probes.size(); ++i) {
      while (which(i) && probes[i]->told == 0) engine->run_turn(weft::io::reactor::whenever);
    }
  };
  run_until_told([&](std::size_t i) { return is_stopped(i) || has_byte(i); });
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (!is_stopped(i) && !has_byte(i)) probes[i]->send_byte();
  }
  run_until_told([](std::size_t /*i*/) { return true; });
  submits.refuse(0, 0);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    EXPECT_EQ(probes[i]->told, 1) << i;
    const int result = probes[i]->result;
    if (!is_stopped(i)) {
      EXPECT_EQ(result, 1) << i;
    } else if (has_byte(i)) {
      EXPECT_TRUE(result == 1 || result == -ECANCELED) << i << ": " << result;
    } else {
      EXPECT_EQ(result, -ECANCELED) << i;
    }
    engine->forget(probes[i]->own());
  }
}

// The engine hears of bytes that are gone when it looks, so often that the kernel may tire of it,
// and have a thread of its own wait for the next one.
TEST_P(ReactorFaults, AReadThatOthersForestallAgainAndAgainCanBeCalledOff) {
  const auto engine = weft::io::make_reactor(GetParam());
  probe reading(*engine);
  engine->start(reading);
  engine->run_turn(weft::io::reactor::at_once);
  for (int i = 0; i < 300; ++i) {
    reading.send_byte();
    if (!reading.steal_byte()) {
      while (reading.told == 0) engine->run_turn(weft::io::reactor::whenever);
      EXPECT_EQ(reading.result, 1);
      return engine->forget(reading.own());
    }
    engine->run_turn(weft::io::reactor::at_once);
    ASSERT_EQ(reading.told, 0);
  }
  engine->cancel(reading);
  while (reading.told == 0) engine->run_turn(weft::io::reactor::whenever);
  EXPECT_EQ(reading.result, -ECANCELED);
  engine->forget(reading.own());
}

TEST_P(EpollFaults, AcceptPassesOverConnectionsThatWereGivenUp) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  for (const int error : {ECONNABORTED, EPROTO, EINTR}) {
    accepts.refuse(error, 3);
    auto ends = weft::sync_wait(connect_pair(hs, listener));
    EXPECT_EQ(accepts.left(), 0);
    ASSERT_EQ(::send(ends.client.native_handle(), "!", 1, 0), 1);
    EXPECT_EQ(weft::sync_wait(read_exactly(ends.server, 1)), "!");
  }
}

TEST_P(EpollFaults, SaysThatTheKernelWatchesNoMore) {
  hybrid_scheduler hs(with());
  auto listener = tcp_listener::listen(hs, {});
  auto ends = weft::sync_wait(connect_pair(hs, listener));
  watches.refuse(ENOSPC, 1);
  try {
    static_cast<void>(weft::sync_wait(read_exactly(ends.server, 1)));
    ADD_FAILURE();
  } catch (const std::system_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("weft: read from 127.0.0.1:"));
    EXPECT_THAT(e.what(), HasSubstr("raise fs.epoll.max_user_watches"));
  }
  ASSERT_EQ(::send(ends.client.native_handle(), "!", 1, 0), 1);
  EXPECT_EQ(weft::sync_wait(read_exactly(ends.server, 1)), "!");
}

[[noreturn]] void try_without_entering() {
  // Rings may be made, and not be used.
  if (!weft::test::forbid_call(__NR_io_uring_enter)) std::_Exit(77);
  const bool falls_back = hybrid_scheduler({.cpu_workers = 1}).engine() == io_engine::epoll;
  std::fprintf(stderr, "%s\n", why_not_io_uring().c_str());
  std::_Exit(falls_back ? 0 : 1);
}

TEST(ReactorFaultsDeathTest, ARingThatMayNotBeUsedIsSeenAtTheStart) {
  const watchdog limit{std::chrono::seconds(60)};
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(try_without_entering(), testing::ExitedWithCode(0),
              HasSubstr("kernel.io_uring_disabled or a seccomp filter"));
}

}  // namespace
