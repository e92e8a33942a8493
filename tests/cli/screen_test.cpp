#include "screen.hpp"

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include <gtest/gtest.h>

#include <support/watchdog.hpp>

namespace weft::cli {
namespace {

using namespace std::chrono_literals;

class pipe_ends {
 public:
  pipe_ends() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
      read_ = ends[0];
      write_ = ends[1];
    }
  }
  ~pipe_ends() {
    close_reader();
    ::close(write_);
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;

  [[nodiscard]] int writer() const { return write_; }
  void close_reader() {
    if (read_ >= 0) ::close(read_);
    read_ = -1;
  }
  // What there is, at least one byte.
  [[nodiscard]] std::string read() const {
    std::string text(1 << 16, '\0');
    const ssize_t count = ::read(read_, text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }
  [[nodiscard]] std::string read_until(const std::string& end) const {
    std::string text;
    while (!text.ends_with(end)) text += read();
    return text;
  }

 private:
  int read_ = -1;
  int write_ = -1;
};

std::stop_token never() { return {}; }

TEST(Screen, WhatIsPrintedComesInOrder) {
  const test::watchdog guard(60s);
  const pipe_ends ends;
  screen out(ends.writer());
  out.print("one\n");
  out.print("two\n");
  EXPECT_EQ(out.finish(never()), screen::outcome::written);
  EXPECT_EQ(ends.read(), "one\ntwo\n");
}

TEST(Screen, LinesAreDrawnOverAndTextGoesAboveThem) {
  const test::watchdog guard(60s);
  const pipe_ends ends;
  screen out(ends.writer());
  out.show({{"first", 5}, {"second", 6}}, 80);
  EXPECT_EQ(ends.read_until("second\x1b[K"), "first\x1b[K\nsecond\x1b[K");
  out.print("text\n");
  EXPECT_EQ(ends.read_until("\x1b[J"), "\r\x1b[1A\x1b[Jtext\nfirst\x1b[K\nsecond\x1b[K\x1b[J");
  out.show({{"third", 5}}, 80);
  EXPECT_EQ(ends.read_until("\x1b[J"), "\r\x1b[1Athird\x1b[K\x1b[J");
  EXPECT_EQ(out.finish(never()), screen::outcome::written);
  EXPECT_EQ(ends.read(), "\r\x1b[J");
}

TEST(Screen, LinesThatANarrowerTerminalHasBrokenAreTakenAwayWhole) {
  const test::watchdog guard(60s);
  const pipe_ends ends;
  screen out(ends.writer());
  out.show({{"0123456789", 10}, {"abc", 3}}, 80);
  static_cast<void>(ends.read_until("abc\x1b[K"));
  out.show({{"x", 1}}, 4);  // ten columns stand in three rows now
  EXPECT_EQ(ends.read_until("\x1b[J"), "\r\x1b[3Ax\x1b[K\x1b[J");
}

TEST(Screen, WhoPrintsDoesNotWaitForAReaderThatStalls) {
  const test::watchdog guard(60s);
  const pipe_ends ends;
  screen out(ends.writer());
  for (int i = 0; i < 1000; ++i) out.print(std::string(1 << 12, 'x'));  // a pipe takes 64 KiB
  std::stop_source hurry;
  hurry.request_stop();
  EXPECT_EQ(out.finish(hurry.get_token()), screen::outcome::given_up);
}

// A terminal takes a part of a write and waits with the rest, unlike a pipe.
TEST(Screen, ATerminalThatNobodyReadsFromDoesNotKeepItFromEnding) {
  const test::watchdog guard(60s);
  int reader = -1;
  int writer = -1;
  ASSERT_EQ(::openpty(&reader, &writer, nullptr, nullptr, nullptr), 0);
  {
    screen out(writer);
    for (int i = 0; i < 10'000; ++i) out.print("a line that a terminal ends with two\n");
    std::stop_source hurry;
    hurry.request_stop();
    EXPECT_EQ(out.finish(hurry.get_token()), screen::outcome::given_up);
  }
  ::close(reader);
  ::close(writer);
}

TEST(Screen, LinesThatAreAbandonedStay) {
  const test::watchdog guard(60s);
  const pipe_ends ends;
  screen out(ends.writer());
  out.show({{"first", 5}, {"second", 6}}, 80);
  static_cast<void>(ends.read_until("second\x1b[K"));
  out.abandon();
  out.print("text\n");
  EXPECT_EQ(ends.read(), "text\n");
  out.show({{"third", 5}}, 80);
  EXPECT_EQ(ends.read(), "third\x1b[K");
}

TEST(Screen, AllIsWrittenToAReaderThatIsSlow) {
  const test::watchdog guard(60s);
  const pipe_ends ends;
  screen out(ends.writer());
  out.print(std::string(1 << 20, 'x') + "end");
  std::size_t seen = 0;
  std::thread reader([&] {
    while (seen < (1U << 20U) + 3) seen += ends.read().size();
  });
  EXPECT_EQ(out.finish(never()), screen::outcome::written);
  reader.join();
  EXPECT_EQ(seen, (1U << 20U) + 3);
}

TEST(Screen, AReaderThatHasGoneIsNoFailure) {
  const test::watchdog guard(60s);
  std::signal(SIGPIPE, SIG_IGN);
  pipe_ends ends;
  ends.close_reader();
  screen out(ends.writer());
  out.print("nobody reads this");
  EXPECT_EQ(out.finish(never()), screen::outcome::reader_gone);
}

TEST(Screen, AFullDiskIsAFailure) {
  const test::watchdog guard(60s);
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  {
    screen out(full);
    out.print("text");
    EXPECT_EQ(out.finish(never()), screen::outcome::failed);
  }
  ::close(full);
}

}  // namespace
}  // namespace weft::cli
