#include "run_display.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <support/watchdog.hpp>

#include "show.hpp"

namespace weft::cli {
namespace {

using namespace std::chrono_literals;
using kind = run_event::kind;
using testing::HasSubstr;
using testing::Not;

// A display, and what it has written.
class RunDisplay : public testing::Test {
 protected:
  RunDisplay() {
    EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0);
    record_.workers = 1;
    record_.rules = {{.id = "slow"}};
  }
  ~RunDisplay() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  RunDisplay(const RunDisplay&) = delete;
  RunDisplay& operator=(const RunDisplay&) = delete;

  // All that was drawn by ticks at these times, while a rule runs.
  std::string drawn_at(std::initializer_list<double> times) {
    screen out(ends_[1]);
    run_display display(out, {.interactive = true}, verbosity::normal);
    display.show({.what = kind::began, .record = record_});
    display.show({.what = kind::started, .record = record_});
    std::string text;
    for (const double now : times) {
      display.show({.what = kind::tick, .now = now, .record = record_});
      const std::string last = formatted("%.1f s\x1b[K", now);
      while (text.find(last) == text.npos) text += read();
    }
    return text;
  }

 private:
  [[nodiscard]] std::string read() const {
    std::array<char, 1 << 12> text{};
    const ssize_t count = ::read(ends_[0], text.data(), text.size());
    return {text.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }

  const test::watchdog guard_{60s};
  std::array<int, 2> ends_{};
  run_record record_;
};

TEST_F(RunDisplay, AfterItWasStoppedItDrawsBelowWhatAShellHasWritten) {
  EXPECT_THAT(drawn_at({0.5, 9}), Not(HasSubstr("\x1b[1A")));
}

TEST_F(RunDisplay, WhatItHasDrawnItDrawsOver) {
  EXPECT_THAT(drawn_at({0.5, 0.6}), HasSubstr("\x1b[1A"));
}

}  // namespace
}  // namespace weft::cli
