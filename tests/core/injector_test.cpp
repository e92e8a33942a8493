#include <weft/core/injector.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <support/counting_job.hpp>
#include <support/scale.hpp>

namespace weft::detail {
namespace {

using test::counting_job;
using test::make_jobs;

class Injector : public ::testing::Test {
 protected:
  push_status push(int i, std::size_t limit = injector::no_limit) {
    return in.push(jobs[static_cast<std::size_t>(i)], limit);
  }
  int take() { return counting_job::number_of(in.take(loot, 0).job); }

  std::vector<counting_job> jobs = make_jobs(200);
  injector in;
  deque own;
  deque_owner loot{own};
};

TEST_F(Injector, NewOneIsEmpty) {
  EXPECT_EQ(in.size(), 0U);
  EXPECT_EQ(in.take(loot, 5).status, steal_status::empty);
}

TEST_F(Injector, GivesJobsInTheOrderTheyCame) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(push(i), push_status::pushed);
  EXPECT_EQ(in.size(), 100U);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(take(), i);
  EXPECT_EQ(in.size(), 0U);
}

TEST_F(Injector, LastJobCanBePushedAndTakenOverAndOver) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(push(i % 2), push_status::pushed);
    ASSERT_EQ(take(), i % 2);
    ASSERT_EQ(in.take(loot, 0).status, steal_status::empty);
  }
}

TEST_F(Injector, BatchKeepsTheOrderForTheOwnerOfTheLoot) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(push(i), push_status::pushed);
  const steal_result r = in.take(loot, 3);
  EXPECT_EQ(r.count, 4U);
  EXPECT_EQ(counting_job::number_of(r.job), 0);
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(counting_job::number_of(loot.pop()), i);
  EXPECT_FALSE(loot.pop());
  EXPECT_EQ(take(), 4);
}

TEST_F(Injector, BatchHasAnUpperLimit) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(push(i), push_status::pushed);
  EXPECT_EQ(in.take(loot, 1000).count, injector::largest_batch);
  EXPECT_EQ(in.size(), 100 - injector::largest_batch);
}

TEST_F(Injector, TakenJobsMayTravelInBatches) {
  EXPECT_EQ(push(0), push_status::pushed);
  EXPECT_TRUE(in.take(loot, 0).job.is_batchable());
}

TEST_F(Injector, RefusesMoreThanTheLimit) {
  EXPECT_EQ(push(0, 2), push_status::pushed);
  EXPECT_EQ(push(1, 2), push_status::pushed);
  EXPECT_EQ(push(2, 2), push_status::full);
  EXPECT_EQ(in.size(), 2U);
  EXPECT_EQ(take(), 0);
  EXPECT_EQ(push(2, 2), push_status::pushed);
  EXPECT_EQ(take(), 1);
  EXPECT_EQ(take(), 2);
}

TEST_F(Injector, ClosedOneRefusesButCanBeEmptied) {
  EXPECT_EQ(push(0), push_status::pushed);
  in.close();
  EXPECT_EQ(push(1), push_status::closed);
  EXPECT_EQ(push(1, 5), push_status::closed);
  EXPECT_EQ(in.size(), 1U);
  EXPECT_EQ(take(), 0);
  EXPECT_EQ(in.size(), 0U);
}

TEST_F(Injector, ClosedOneTakesWorkThatWasAcceptedBefore) {
  in.close();
  in.push_again(jobs[3]);
  EXPECT_EQ(in.size(), 1U);
  EXPECT_EQ(take(), 3);
}

TEST(InjectorRace, EveryJobIsTakenOnceAndInTheOrderOfItsProducer) {
  constexpr int producers = 3;
  const int each = test::rounds(200'000);
  auto jobs = make_jobs(producers * each);
  injector in;
  std::atomic<int> left{producers * each};
  auto taker = [&] {
    deque own;
    deque_owner loot(own);
    std::vector<int> last(producers, -1);
    while (left.load() > 0) {
      const steal_result r = in.take(loot, 7);
      if (r.status != steal_status::stolen) {
        std::this_thread::yield();
        continue;
      }
      auto take = [&](job_ref ref) {
        counting_job& j = counting_job::of(ref);
        ++j.taken;
        int& before = last[static_cast<std::size_t>(j.number / each)];
        EXPECT_LT(before, j.number) << "a younger job of the same producer came first";
        before = j.number;
      };
      take(r.job);
      while (const job_ref more = loot.pop()) take(more);
      left -= static_cast<int>(r.count);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int p = 0; p < producers; ++p) {
      threads.emplace_back([&, p] {
        for (int i = 0; i < each; ++i) {
          EXPECT_EQ(in.push(jobs[static_cast<std::size_t>(p * each + i)]), push_status::pushed);
        }
      });
    }
    threads.emplace_back(taker);
    threads.emplace_back(taker);
  }
  for (const counting_job& j : jobs) ASSERT_EQ(j.taken, 1);
  EXPECT_EQ(in.size(), 0U);
}

TEST(InjectorRace, NothingIsAcceptedAfterTheDoorIsShut) {
  for (int round = 0; round < test::rounds(2000); ++round) {
    auto jobs = make_jobs(64);
    injector in;
    std::atomic<int> accepted{0};
    {
      std::jthread producer([&] {
        for (auto& j : jobs) {
          if (in.push(j) == push_status::pushed) ++accepted;
        }
      });
      in.close();
    }
    ASSERT_EQ(in.size(), static_cast<std::size_t>(accepted));
  }
}

}  // namespace
}  // namespace weft::detail
