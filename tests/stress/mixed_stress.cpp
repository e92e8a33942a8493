// Everything at once, at random: every job must run exactly once.

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

// Counts what was started against what has run.
class mix {
 public:
  mix(pool& p, std::uint64_t seed) : p_(p), seed_(seed) {}

  // A piece of work that makes more, down to depth 0.
  void work(int depth) {
    ran_.fetch_add(1, std::memory_order_relaxed);
    if (depth == 0) return;
    switch (next() % 7) {
      case 0:
        join([&] { one(depth); }, [&] { one(depth); });
        break;
      case 1: {
        task_group g(p_);
        for (std::uint64_t i = next() % 5; i > 0; --i) g.spawn([&] { one(depth); });
        g.wait();
        break;
      }
      case 2:
        submit(depth).get();
        break;
      case 3: {
        auto a = submit(depth);
        join([&] { a.get(); }, [&] { one(depth); });
        break;
      }
      case 4:
        p_.spawn([this, depth] { one(depth); });
        join([&] { p_.spawn([this, depth] { one(depth); }); }, [&] { one(depth); });
        break;
      case 5:
        fail(depth);
        break;
      default:
        submit(depth).then([this, depth] { one(depth); }).wait();
        break;
    }
  }
  void one(int depth) {
    started_.fetch_add(1, std::memory_order_relaxed);
    work(depth - 1);
  }
  void expect_balanced() const { EXPECT_EQ(started_, ran_); }

 private:
  future<void> submit(int depth) {
    return p_.submit([this, depth] { one(depth); });
  }
  void fail(int depth) {
    task_group g(p_);
    g.spawn([&] { one(depth); });
    g.spawn([] { throw std::runtime_error("expected"); });
    g.spawn([&] { one(depth); });
    EXPECT_THROW(g.wait(), std::runtime_error);
    EXPECT_THROW(join([] { throw 1; }, [&] { one(depth); }), int);
  }
  std::uint64_t next() {
    thread_local std::minstd_rand random(static_cast<std::minstd_rand::result_type>(
        seed_ + std::hash<std::thread::id>()(std::this_thread::get_id())));
    return random();
  }

  pool& p_;
  const std::uint64_t seed_;
  std::atomic<std::uint64_t> started_{0};
  std::atomic<std::uint64_t> ran_{0};
};

TEST(MixedStress, RandomWorkFromManyThreads) {
  const std::uint64_t seed = test::announced_seed();
  pool p({.workers = 3});
  const test::watchdog guard(240s, p);
  mix m(p, seed);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < test::rounds(3000); ++i) {
          if (t == 0) {
            p.spawn([&] { m.one(6); });
          } else {
            p.run([&] { m.one(6); });
          }
        }
      });
    }
  }
  p.shutdown();
  m.expect_balanced();
}

TEST(MixedStress, RandomWorkWhileThePoolIsResized) {
  const std::uint64_t seed = test::announced_seed();
  pool p({.workers = 2, .max_workers = 6});
  const test::watchdog guard(240s, p);
  mix m(p, seed);
  {
    std::jthread resizer([&](const std::stop_token& stop) {
      std::minstd_rand random(static_cast<std::minstd_rand::result_type>(seed));
      while (!stop.stop_requested()) {
        p.resize(1 + static_cast<unsigned>(random()) % 6);
        std::this_thread::yield();
      }
    });
    for (int i = 0; i < test::rounds(5000); ++i) p.run([&] { m.one(6); });
  }
  p.shutdown();
  m.expect_balanced();
}

TEST(MixedStress, RandomWorkAtATinyNestingLimit) {
  const std::uint64_t seed = test::announced_seed();
  pool p({.workers = 3, .nesting_limit = 1});
  const test::watchdog guard(240s, p);
  mix m(p, seed);
  for (int i = 0; i < test::rounds(3000); ++i) p.run([&] { m.one(5); });
  p.shutdown();
  m.expect_balanced();
}

TEST(MixedStress, RandomWorkWithoutAsymmetricFences) {
  const std::uint64_t seed = test::announced_seed();
  pool p({.workers = 3, .asymmetric_fences = false});
  const test::watchdog guard(240s, p);
  mix m(p, seed);
  for (int i = 0; i < test::rounds(3000); ++i) p.run([&] { m.one(6); });
  p.shutdown();
  m.expect_balanced();
}

TEST(MixedStress, RandomWorkInOrdersDrawnFromManySeeds) {
  const std::uint64_t first = test::announced_seed();
  const test::watchdog guard(240s);
  for (int i = 0; i < test::rounds(2000); ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    pool p({.deterministic_seed = seed});
    mix m(p, seed);
    p.run([&] { m.one(4); });
    p.shutdown();
    m.expect_balanced();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

// Ten groups of ten jobs that all throw: the error with the lowest index arrives, and nobody is
// lost.
TEST(MixedStress, NestedGroupsInWhichEverythingThrows) {
  struct numbered {
    int outer;
    int inner;
  };
  pool p({.workers = 2});
  const test::watchdog guard(240s, p);
  for (int round = 0; round < test::rounds(10'000); ++round) {
    std::atomic<int> ran{0};
    task_group outer(p);
    for (int i = 0; i < 10; ++i) {
      outer.spawn([&, i] {
        task_group inner(p);
        for (int k = 0; k < 10; ++k) {
          inner.spawn([&, i, k] {
            ++ran;
            throw numbered{i, k};
          });
        }
        inner.wait();
      });
    }
    try {
      outer.wait();
      FAIL() << "nothing was thrown";
    } catch (const numbered& e) {
      ASSERT_EQ(e.outer, 0);
      ASSERT_EQ(e.inner, 0);
    }
    ASSERT_EQ(ran, 100);
  }
}

}  // namespace
}  // namespace weft
