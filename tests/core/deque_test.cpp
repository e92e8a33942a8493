#include <weft/core/deque.hpp>

#include <atomic>
#include <barrier>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <support/counting_job.hpp>
#include <support/scale.hpp>

namespace weft::detail {
namespace {

using test::counting_job;
using test::make_jobs;

class Deque : public ::testing::Test {
 protected:
  std::int64_t push_single(int i) { return owner.push(job_ref::single(at(i))); }
  std::int64_t push_batchable(int i) { return owner.push(job_ref::batchable(at(i))); }
  int pop() { return counting_job::number_of(owner.pop()); }
  // The number stolen, or -1.
  int steal() { return counting_job::number_of(thief.steal().job); }
  counting_job& at(int i) { return jobs[static_cast<std::size_t>(i)]; }

  std::vector<counting_job> jobs = make_jobs(2000);
  deque d{2};
  deque_owner owner{d};
  deque_thief thief{d};
};

TEST_F(Deque, NewOneIsEmptyForBothEnds) {
  EXPECT_FALSE(owner.pop());
  EXPECT_EQ(thief.steal().status, steal_status::empty);
  EXPECT_FALSE(thief.has_jobs());
  EXPECT_FALSE(thief.has_public_jobs());
  EXPECT_FALSE(thief.seize());
  EXPECT_FALSE(owner.publish_some());
}

TEST_F(Deque, OwnerPopsTheNewestFirst) {
  for (int i = 0; i < 3; ++i) push_single(i);
  EXPECT_EQ(owner.size(), 3);
  EXPECT_EQ(pop(), 2);
  EXPECT_EQ(pop(), 1);
  EXPECT_EQ(pop(), 0);
  EXPECT_EQ(pop(), -1);
}

TEST_F(Deque, ThiefStealsTheOldestPublicJob) {
  for (int i = 0; i < 3; ++i) push_single(i);
  owner.publish_all();
  EXPECT_EQ(steal(), 0);
  EXPECT_EQ(steal(), 1);
  EXPECT_EQ(steal(), 2);
  EXPECT_EQ(thief.steal().status, steal_status::empty);
}

TEST_F(Deque, PrivateJobIsSeenButNotStolen) {
  push_single(0);
  EXPECT_TRUE(thief.has_jobs());
  EXPECT_FALSE(thief.has_public_jobs());
  EXPECT_EQ(thief.steal().status, steal_status::empty);
  EXPECT_EQ(pop(), 0);
}

TEST_F(Deque, LastJobCanBePushedAndPoppedOverAndOver) {
  for (int i = 0; i < 100; ++i) {
    push_single(i);
    if (i % 3 == 0) owner.publish_all();
    ASSERT_EQ(pop(), i);
    ASSERT_EQ(pop(), -1);
    ASSERT_EQ(thief.steal().status, steal_status::empty);
    ASSERT_EQ(owner.size(), 0);
  }
}

TEST_F(Deque, LastPublicJobGoesToWhoeverComesFirst) {
  for (int i = 0; i < 100; i += 2) {
    push_single(i);
    owner.publish_all();
    ASSERT_EQ(steal(), i);
    ASSERT_EQ(pop(), -1);
    push_single(i + 1);
    owner.publish_all();
    ASSERT_EQ(pop(), i + 1);
    ASSERT_EQ(steal(), -1);
  }
}

TEST_F(Deque, OwnerThatPopsIntoThePublicPartLeavesTheRestToThieves) {
  for (int i = 0; i < 4; ++i) push_single(i);
  owner.publish_all();
  EXPECT_EQ(pop(), 3);
  EXPECT_EQ(steal(), 0);
  EXPECT_EQ(pop(), 2);
  EXPECT_EQ(steal(), 1);
  EXPECT_EQ(pop(), -1);
}

// -- taking back ---------------------------------------------------------------------------------

TEST_F(Deque, NewestPrivateJobIsTakenBack) {
  push_single(0);
  const std::int64_t mark = push_single(1);
  EXPECT_TRUE(owner.try_take_back(mark));
  EXPECT_EQ(pop(), 0);
}

TEST_F(Deque, BuriedJobIsNotTakenBack) {
  const std::int64_t mark = push_single(0);
  push_single(1);
  EXPECT_FALSE(owner.try_take_back(mark));
  EXPECT_EQ(pop(), 1);
  EXPECT_TRUE(owner.try_take_back(mark));
}

TEST_F(Deque, PublicJobIsNotTakenBackButPopped) {
  const std::int64_t mark = push_single(0);
  owner.publish_all();
  EXPECT_FALSE(owner.try_take_back(mark));
  EXPECT_EQ(owner.size(), 1);
  EXPECT_EQ(pop(), 0);
}

TEST_F(Deque, StolenJobIsNotTakenBack) {
  const std::int64_t mark = push_single(0);
  owner.publish_all();
  EXPECT_EQ(steal(), 0);
  EXPECT_FALSE(owner.try_take_back(mark));
  EXPECT_EQ(pop(), -1);
}

// -- publishing ----------------------------------------------------------------------------------

TEST_F(Deque, PublishesOneJoinJobAtATime) {
  for (int i = 0; i < 4; ++i) push_single(i);
  EXPECT_TRUE(owner.publish_some());
  EXPECT_TRUE(owner.publish_some()) << "one is public already";
  EXPECT_EQ(steal(), 0);
  EXPECT_EQ(steal(), -1);
  EXPECT_TRUE(owner.publish_some());
  EXPECT_EQ(steal(), 1);
}

TEST_F(Deque, PublishesHalfOfTheBatchableJobs) {
  for (int i = 0; i < 9; ++i) push_batchable(i);
  EXPECT_TRUE(owner.publish_some());
  int stolen = 0;
  while (thief.steal().status == steal_status::stolen) ++stolen;
  EXPECT_EQ(stolen, 5);
  EXPECT_EQ(owner.size(), 4);
}

TEST_F(Deque, PublishAllLeavesNothingPrivate) {
  for (int i = 0; i < 5; ++i) push_single(i);
  owner.publish_all();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(steal(), i);
}

TEST_F(Deque, FencedOnePublishesEverythingAtOnce) {
  deque fenced(2, /*fenced=*/true);
  deque_owner mine(fenced);
  deque_thief other(fenced);
  EXPECT_TRUE(mine.is_fenced());
  for (int i = 0; i < 5; ++i) mine.push(job_ref::single(at(i)));
  EXPECT_TRUE(mine.publish_some());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(counting_job::number_of(other.steal().job), i);
}

// Without membarrier a private job could be taken back by the owner and seized by a thief at once.
TEST_F(Deque, FencedOneLeavesNothingPrivate) {
  deque fenced(2, /*fenced=*/true);
  deque_owner mine(fenced);
  deque_thief other(fenced);
  for (int i = 0; i < 5; ++i) {
    const std::int64_t mark = mine.push(job_ref::single(at(i)));
    EXPECT_TRUE(mine.publish_some());
    EXPECT_FALSE(mine.try_take_back(mark));
    EXPECT_FALSE(other.seize());
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(counting_job::number_of(other.steal().job), i);
}

TEST_F(Deque, SeizePublishesWhatTheOwnerKeptPrivate) {
  for (int i = 0; i < 3; ++i) push_single(i);
  EXPECT_TRUE(thief.seize());
  EXPECT_FALSE(thief.seize()) << "nothing is private any more";
  EXPECT_EQ(steal(), 0);
  EXPECT_EQ(pop(), 2);
  EXPECT_EQ(steal(), 1);
}

TEST_F(Deque, SeizedJobIsNotTakenBackAtNoCost) {
  const std::int64_t mark = push_single(0);
  ASSERT_TRUE(thief.seize());
  EXPECT_FALSE(owner.try_take_back(mark));
  EXPECT_EQ(pop(), 0);
}

// -- batches -------------------------------------------------------------------------------------

class DequeBatch : public Deque {
 protected:
  deque thieves_own{2};
  deque_owner loot{thieves_own};
};

TEST_F(DequeBatch, TakesHalfOfWhatIsThere) {
  for (int i = 0; i < 10; ++i) push_batchable(i);
  owner.publish_all();
  const steal_result r = thief.steal_batch(loot);
  ASSERT_EQ(r.status, steal_status::stolen);
  EXPECT_EQ(counting_job::number_of(r.job), 0);
  EXPECT_EQ(r.count, 5U);
  EXPECT_EQ(loot.size(), 4);
  EXPECT_EQ(owner.size(), 5);
}

TEST_F(DequeBatch, TakesAtMostThirtyTwo) {
  for (int i = 0; i < 1000; ++i) push_batchable(i);
  owner.publish_all();
  EXPECT_EQ(thief.steal_batch(loot).count, 32U);
  EXPECT_EQ(loot.size(), 31);
}

TEST_F(DequeBatch, TakesAJoinJobAlone) {
  for (int i = 0; i < 10; ++i) push_single(i);
  owner.publish_all();
  const steal_result r = thief.steal_batch(loot);
  EXPECT_EQ(counting_job::number_of(r.job), 0);
  EXPECT_EQ(r.count, 1U);
  EXPECT_EQ(loot.size(), 0);
}

TEST_F(DequeBatch, StopsInFrontOfAJoinJob) {
  push_batchable(0);
  push_batchable(1);
  push_single(2);
  for (int i = 3; i < 20; ++i) push_batchable(i);
  owner.publish_all();
  EXPECT_EQ(thief.steal_batch(loot).count, 2U);
  EXPECT_EQ(counting_job::number_of(loot.pop()), 1);
  EXPECT_EQ(steal(), 2);
}

TEST_F(DequeBatch, TakesTheOnlyJob) {
  push_batchable(0);
  owner.publish_all();
  EXPECT_EQ(thief.steal_batch(loot).count, 1U);
  EXPECT_EQ(thief.steal_batch(loot).status, steal_status::empty);
}

// -- growth --------------------------------------------------------------------------------------

TEST_F(Deque, GrowsAndKeepsTheOrder) {
  for (int i = 0; i < 1000; ++i) push_single(i);
  EXPECT_EQ(owner.size(), 1000);
  owner.publish_all();
  for (int i = 0; i < 500; ++i) ASSERT_EQ(steal(), i);
  for (int i = 999; i >= 500; --i) ASSERT_EQ(pop(), i);
  EXPECT_EQ(pop(), -1);
}

TEST_F(Deque, ReusesSlotsThatThievesHaveLeft) {
  int oldest = 0;
  for (int i = 0; i < 2000; ++i) {
    push_single(i);
    owner.publish_all();
    if (owner.size() == 2) {
      ASSERT_EQ(steal(), oldest++);
    }
  }
}

// Random operations against an obvious model: a std::deque and the number of public jobs.
TEST_F(Deque, BehavesLikeItsModel) {
  std::mt19937_64 random(test::announced_seed());
  std::deque<int> model;
  std::size_t open = 0;  // of the model's front
  int next = 0;
  for (int step = 0; step < 200'000; ++step) {
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        push_single(next);
        model.push_back(next);
        next = (next + 1) % 2000;
        break;
      case 3: {
        const int expected = model.empty() ? -1 : model.back();
        ASSERT_EQ(pop(), expected);
        // A pop that reaches the public part publishes what is below it.
        if (!model.empty()) {
          model.pop_back();
          open = std::min(open, model.size());
        }
        break;
      }
      case 4: {
        const int expected = open == 0 ? -1 : model.front();
        ASSERT_EQ(steal(), expected);
        if (open > 0) {
          model.pop_front();
          --open;
        }
        break;
      }
      case 5:
        ASSERT_EQ(owner.publish_some(), !model.empty());
        if (open == 0 && !model.empty()) open = 1;
        break;
      case 6:
        ASSERT_EQ(thief.seize(), open < model.size());
        open = model.size();
        break;
      default: {
        const int at_top = next;
        const std::int64_t mark = push_single(at_top);
        if (random() % 2 == 0) {
          owner.publish_all();
          ASSERT_FALSE(owner.try_take_back(mark));
          ASSERT_EQ(pop(), at_top);
          open = model.size();
        } else {
          ASSERT_TRUE(owner.try_take_back(mark));
        }
        break;
      }
    }
    ASSERT_EQ(owner.size(), static_cast<std::int64_t>(model.size()));
    ASSERT_EQ(thief.has_public_jobs(), open > 0);
    if (model.size() > 1500) {
      while (pop() != -1) {
      }
      model.clear();
      open = 0;
    }
  }
}

// -- several threads -----------------------------------------------------------------------------

TEST(DequeRace, OwnerAndThiefNeverShareTheLastJob) {
  auto jobs = make_jobs(1);
  deque d(2);
  std::barrier together(2);
  std::atomic<int> stolen{0};
  const int rounds = test::rounds(100'000);
  std::jthread other([&] {
    for (int i = 0; i < rounds; ++i) {
      together.arrive_and_wait();
      if (deque_thief(d).steal().status == steal_status::stolen) ++stolen;
      together.arrive_and_wait();
    }
  });
  int popped = 0;
  for (int i = 0; i < rounds; ++i) {
    deque_owner(d).push(job_ref::single(jobs[0]));
    deque_owner(d).publish_all();
    together.arrive_and_wait();
    if (deque_owner(d).pop()) ++popped;
    together.arrive_and_wait();
    ASSERT_EQ(popped + stolen, i + 1);
  }
}

void every_job_is_taken_once(bool fenced) {
  const int count = test::rounds(1'000'000);
  auto jobs = make_jobs(count);
  deque d(2, fenced);
  std::atomic<bool> over{false};
  auto take = [](job_ref r) { counting_job::of(r).taken.fetch_add(1, std::memory_order_relaxed); };
  auto thief_body = [&](unsigned seed) {
    std::minstd_rand random(seed);
    deque own(2);
    deque_owner loot(own);
    deque_thief thief(d);
    while (!over.load() || thief.has_jobs()) {
      const unsigned choice = random() % 8;
      if (!fenced && choice == 0) thief.seize();
      const steal_result r = choice < 4 ? thief.steal() : thief.steal_batch(loot);
      if (r.status != steal_status::stolen) {
        std::this_thread::yield();
        continue;
      }
      take(r.job);
      while (const job_ref more = loot.pop()) take(more);
    }
  };
  {
    std::vector<std::jthread> thieves;
    for (unsigned i = 0; i < 2; ++i) thieves.emplace_back(thief_body, i + 1);
    std::minstd_rand random(7);
    deque_owner owner(d);
    for (int i = 0; i < count; ++i) {
      counting_job& j = jobs[static_cast<std::size_t>(i)];
      const bool single = random() % 4 == 0;
      const std::int64_t mark = owner.push(single ? job_ref::single(j) : job_ref::batchable(j));
      if (fenced) {
        owner.publish_some();
      } else if (random() % 8 == 0) {
        owner.publish_some();
      }
      if (random() % 2 == 0) continue;
      if (!fenced && owner.try_take_back(mark)) {
        take(job_ref::single(j));
      } else if (const job_ref r = owner.pop()) {
        take(r);
      }
    }
    owner.publish_all();
    over = true;
  }
  for (int i = 0; i < count; ++i) ASSERT_EQ(jobs[static_cast<std::size_t>(i)].taken, 1) << i;
}

TEST(DequeRace, EveryJobIsTakenOnceWhileTheBufferGrows) { every_job_is_taken_once(false); }
TEST(DequeRace, EveryJobIsTakenOnceWithFences) { every_job_is_taken_once(true); }

}  // namespace
}  // namespace weft::detail
