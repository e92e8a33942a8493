#include <weft/coro/channel.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/when.hpp>

#include <coro/small_stack.hpp>
#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using weft::channel;
using weft::sync_wait;
using weft::task;

// With how much room.
class Channel : public ::testing::TestWithParam<std::size_t> {
 protected:
  weft::test::watchdog guard{60s};
};
INSTANTIATE_TEST_SUITE_P(Capacity, Channel, ::testing::Values(0U, 1U, 2U, 64U));

task<> send_all(channel<int>& to, int first, int count) {
  for (int i = 0; i < count; ++i) EXPECT_TRUE(co_await to.send(first + i));
}
task<> send_and_close(channel<int>& to, int count) {
  co_await send_all(to, 0, count);
  to.close();
}
task<std::vector<int>> receive_all(channel<int>& from) {
  std::vector<int> got;
  while (auto value = co_await from.receive()) got.push_back(*value);
  co_return got;
}
task<bool> send_one(channel<int>& to, int value) { co_return co_await to.send(value); }
task<std::optional<int>> receive_one(channel<int>& from) { co_return co_await from.receive(); }

TEST_P(Channel, KeepsTheOrderFromOneToOne) {
  for (const unsigned workers : {0U, 1U, 2U}) {
    channel<int> c(GetParam());
    auto t = [](channel<int>& x) -> task<std::vector<int>> {
      auto [got, nothing] = co_await weft::when_all(receive_all(x), send_and_close(x, 500));
      co_return got;
    };
    std::vector<int> got;
    if (workers == 0) {
      got = sync_wait(t(c));
    } else {
      weft::pool pool({.workers = workers});
      got = sync_wait(pool, t(c));
    }
    ASSERT_EQ(got.size(), 500U);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], i);
  }
}

TEST_P(Channel, HoldsAsMuchAsItSaysAndNoMore) {
  channel<int> c(GetParam());
  for (std::size_t i = 0; i < GetParam(); ++i) {
    int value = static_cast<int>(i);
    EXPECT_TRUE(c.try_send(value));
  }
  int refused = 77;
  EXPECT_FALSE(c.try_send(refused));
  EXPECT_EQ(refused, 77);
  EXPECT_EQ(c.size(), GetParam());
  for (std::size_t i = 0; i < GetParam(); ++i) EXPECT_EQ(c.try_receive(), static_cast<int>(i));
  EXPECT_EQ(c.try_receive(), std::nullopt);
}

TEST_P(Channel, PassesWhatCanOnlyBeMoved) {
  channel<std::unique_ptr<int>> c(GetParam());
  auto sends = [](channel<std::unique_ptr<int>>& x) -> task<> {
    for (int i = 0; i < 10; ++i) co_await x.send(std::make_unique<int>(i));
  };
  auto receives = [](channel<std::unique_ptr<int>>& x) -> task<int> {
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
      auto value = co_await x.receive();
      sum += **value;
    }
    co_return sum;
  };
  auto t = [](auto& s, auto& r, channel<std::unique_ptr<int>>& x) -> task<int> {
    auto [nothing, sum] = co_await weft::when_all(s(x), r(x));
    co_return sum;
  };
  EXPECT_EQ(sync_wait(t(sends, receives, c)), 45);
}

// -- closing --------------------------------------------------------------------------------------

TEST_P(Channel, ThatIsClosedGivesWhatItHasAndThenNothing) {
  channel<int> c(GetParam());
  std::vector<int> expected;
  for (std::size_t i = 0; i < GetParam(); ++i) {
    int value = static_cast<int>(i);
    ASSERT_TRUE(c.try_send(value));
    expected.push_back(value);
  }
  c.close();
  c.close();
  EXPECT_TRUE(c.is_closed());
  EXPECT_FALSE(sync_wait(send_one(c, 5)));
  int value = 5;
  EXPECT_FALSE(c.try_send(value));
  EXPECT_EQ(sync_wait(receive_all(c)), expected);
  EXPECT_EQ(sync_wait(receive_one(c)), std::nullopt);
}

TEST_P(Channel, TellsThoseWhoWaitThatItIsClosed) {
  weft::pool pool({.workers = 1});
  channel<int> c(GetParam());
  auto receiver = weft::spawn(pool, receive_one(c));
  auto closes = [](channel<int>& x) -> task<> {
    co_await weft::yield();
    x.close();
  };
  weft::spawn(pool, closes(c)).get();
  EXPECT_EQ(receiver.get(), std::nullopt);

  channel<int> full(GetParam());
  for (std::size_t i = 0; i < GetParam(); ++i) {
    int value = 0;
    ASSERT_TRUE(full.try_send(value));
  }
  auto sender = weft::spawn(pool, send_one(full, 1));
  weft::spawn(pool, closes(full)).get();
  EXPECT_FALSE(sender.get());
}

// -- stopping -------------------------------------------------------------------------------------

TEST_P(Channel, ASendThatIsCalledAwaySendsNothing) {
  weft::pool pool({.workers = 1});
  channel<int> c(GetParam());
  for (std::size_t i = 0; i < GetParam(); ++i) {
    int value = 1;
    ASSERT_TRUE(c.try_send(value));
  }
  auto sender = weft::spawn(pool, send_one(c, 2));
  sender.request_stop();
  EXPECT_THROW(sender.get(), weft::cancelled);
  for (std::size_t i = 0; i < GetParam(); ++i) EXPECT_EQ(c.try_receive(), 1);
  EXPECT_EQ(c.try_receive(), std::nullopt);
}

TEST_P(Channel, AskedToStopThrowsWhetherThereIsRoomOrNot) {
  channel<int> c(GetParam());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(sync_wait(send_one(c, 1), stop.get_token()), weft::cancelled);
  EXPECT_THROW(sync_wait(receive_one(c), stop.get_token()), weft::cancelled);
  EXPECT_EQ(c.size(), 0U);
}

// Senders and receivers are called away all the time. What was sent arrives once.
TEST_P(Channel, LosesAndDoublesNothingWhenTasksAreCalledAway) {
  weft::pool pool({.workers = 2});
  channel<int> c(GetParam());
  auto sends = [](channel<int>& x, int v, std::atomic<long>& sum) -> task<> {
    if (co_await x.send(v)) sum += v;
  };
  auto receives = [](channel<int>& x, std::atomic<long>& sum) -> task<> {
    if (const auto v = co_await x.receive()) sum += *v;
  };
  std::atomic<long> sent = 0;
  std::atomic<long> received = 0;
  const int rounds = weft::test::rounds(3000);
  for (int i = 0; i < rounds; ++i) {
    std::vector<weft::future<void>> futures;
    for (int k = 0; k < 4; ++k) {
      futures.push_back(weft::spawn(pool, sends(c, i * 4 + k + 1, sent)));
      futures.push_back(weft::spawn(pool, receives(c, received)));
    }
    for (std::size_t k = 0; k < futures.size(); ++k) {
      if ((static_cast<std::size_t>(i) >> k) % 2 == 1) futures[k].request_stop();
    }
    for (int k = 0; k < 8; ++k) std::this_thread::yield();
    for (auto& f : futures) {
      f.request_stop();
      try {
        f.get();
      } catch (const weft::cancelled&) {
      }
    }
    while (const auto left = c.try_receive()) received += *left;
    ASSERT_EQ(sent, received) << "round " << i;
  }
}

TEST_P(Channel, SumsUpFromManyToMany) {
  weft::pool pool({.workers = 4});
  channel<int> c(GetParam());
  const int each = weft::test::rounds(20'000);
  auto t = [](channel<int>& x, int n) -> task<long> {
    auto sum_up = [](channel<int>& y) -> task<long> {
      long sum = 0;
      while (const auto v = co_await y.receive()) sum += *v;
      co_return sum;
    };
    auto produce = [](channel<int>& y, int m) -> task<long> {
      std::vector<task<>> senders;
      for (int i = 0; i < 4; ++i) senders.push_back(send_all(y, 1, m));
      co_await weft::when_all(std::move(senders));
      y.close();
      co_return 0;
    };
    std::vector<task<long>> all;
    for (int i = 0; i < 3; ++i) all.push_back(sum_up(x));
    all.push_back(produce(x, n));
    long sum = 0;
    for (const long part : co_await weft::when_all(std::move(all))) sum += part;
    co_return sum;
  };
  EXPECT_EQ(sync_wait(pool, t(c, each)), 4L * each * (each + 1L) / 2);
}

TEST_P(Channel, AMillionValuesNeedNoMoreStackThanOne) {
  const int rounds = weft::test::rounds(200'000);
  const std::size_t capacity = GetParam();
  weft::test::on_a_small_stack([&] {
    channel<int> c(capacity);
    auto t = [](channel<int>& x, int n) -> task<std::size_t> {
      auto [got, nothing] = co_await weft::when_all(receive_all(x), send_and_close(x, n));
      co_return got.size();
    };
    EXPECT_EQ(sync_wait(t(c, rounds)), static_cast<std::size_t>(rounds));
  });
}

}  // namespace
