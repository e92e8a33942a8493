#include <weft/core/blocking.hpp>

#include <latch>
#include <stdexcept>

#include <gtest/gtest.h>

#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>

namespace {

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

}  // namespace
