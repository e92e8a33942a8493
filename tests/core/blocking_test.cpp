#include <weft/core/blocking.hpp>

#include <barrier>
#include <latch>
#include <stdexcept>

#include <gtest/gtest.h>

#include <weft/core/future.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>

#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;

TEST(Blocking, LetsAnotherJobRunMeanwhile) {
  weft::pool pool({.workers = 1, .max_workers = 2});
  std::latch other_ran(1);
  weft::task_group group(pool);
  group.spawn([&] {
    group.spawn([&] { other_ran.count_down(); });
    weft::blocking([&] { other_ran.wait(); });  // without help from another worker: for ever
  });
  group.wait();
  EXPECT_EQ(pool.workers(), 1U);
}

TEST(Blocking, GivesTheSeatBack) {
  weft::pool pool({.workers = 1, .max_workers = 8});
  for (int i = 0; i < 100; ++i) pool.run([] { weft::blocking([] {}); });
  EXPECT_EQ(pool.stats().workers, 1U);
}

TEST(Blocking, ReturnsAndThrowsWhatTheCallDoes) {
  weft::pool pool({.workers = 1});
  EXPECT_EQ(pool.run([] { return weft::blocking([] { return 7; }); }), 7);
  EXPECT_THROW(pool.run([] { weft::blocking([] { throw std::runtime_error("x"); }); }),
               std::runtime_error);
  EXPECT_EQ(weft::blocking([] { return 8; }), 8);  // outside any pool
}

TEST(Blocking, IsAPlainCallWhereNoWorkerCanBeAdded) {
  weft::pool pool({.workers = 1, .max_workers = 1});
  EXPECT_EQ(pool.run([] { return weft::blocking([] { return 7; }); }), 7);
}

TEST(Blocking, KeepsToTheSizeThatResizeHasSetMeanwhile) {
  weft::pool pool({.workers = 1, .max_workers = 8});
  pool.run([&] { weft::blocking([&] { pool.resize(3); }); });
  EXPECT_EQ(pool.workers(), 3U);
  EXPECT_EQ(pool.stats().workers, 3U);
}

TEST(Blocking, WorksWhileThePoolEnds) {
  std::latch started(1);
  std::latch go_on(1);
  weft::pool pool({.workers = 1, .max_workers = 2});
  auto slow = pool.submit([&] {
    weft::blocking([&] {
      started.count_down();
      go_on.wait();
    });
    return 1;
  });
  started.wait();
  go_on.count_down();
  pool.shutdown();
  EXPECT_EQ(slow.get(), 1);
}

TEST(Blocking, GivesOneSeatAwayHoweverDeepItIsNested) {
  weft::pool p({.workers = 1, .max_workers = 8});
  const auto seats = [&p] { return p.stats().workers; };
  auto inside = p.submit([&] {
    return weft::blocking([&] { return weft::blocking([&] { return weft::blocking(seats); }); });
  });
  EXPECT_EQ(inside.get(), 2U);
  EXPECT_EQ(seats(), 1U);
}

TEST(Blocking, JobInACallIsNotCountedWhenThePoolIsResized) {
  weft::pool p({.workers = 1, .max_workers = 8});
  const weft::test::watchdog limit(60s, p);
  std::latch inside(1);
  std::latch release(1);
  auto sleeps = p.submit([&] {
    weft::blocking([&] {
      inside.count_down();
      release.wait();
    });
  });
  inside.wait();
  p.resize(2);
  std::barrier both(2);  // two can run beside the one that sleeps
  auto a = p.submit([&] { both.arrive_and_wait(); });
  auto b = p.submit([&] { both.arrive_and_wait(); });
  a.get();
  b.get();
  release.count_down();
  sleeps.get();
  EXPECT_EQ(p.stats().workers, 2U);
}

TEST(Blocking, SeatIsGivenBackWhenThePoolWasMadeSmallerMeanwhile) {
  weft::pool p({.workers = 3, .max_workers = 8});
  const weft::test::watchdog limit(60s, p);
  p.submit([&] { weft::blocking([&] { p.resize(1); }); }).get();
  EXPECT_EQ(p.stats().workers, 1U);
  EXPECT_EQ(p.submit([] { return 1; }).get(), 1);
}

}  // namespace
