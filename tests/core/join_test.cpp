#include <weft/core/join.hpp>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/core/pool.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

// The global pool of this program has two workers on every machine.
const int two_workers = ::setenv("WEFT_WORKERS", "2", 1);

// Makes the right side run on another worker: the left side does not return before.
class Join : public ::testing::Test {
 protected:
  template <class A, class B>
  auto stolen(A a, B b) {
    return p.run([&] {
      std::latch begun(1);
      return join(
          [&]() -> decltype(a()) {
            begun.wait();
            return a();
          },
          [&]() -> decltype(b()) {
            begun.count_down();
            return b();
          });
    });
  }
  template <class A, class B>
  auto unstolen(A a, B b) {
    pool one({.workers = 1});
    return one.run([&] { return join(a, b); });
  }

  pool p{{.workers = 2}};
  test::watchdog guard{30s, p};
};

TEST_F(Join, ReturnsBothResultsAsAPair) {
  auto left = [] { return 1; };
  auto right = [] { return std::string("two"); };
  EXPECT_EQ(stolen(left, right), std::pair(1, std::string("two")));
  EXPECT_EQ(unstolen(left, right), std::pair(1, std::string("two")));
}

TEST_F(Join, GivesMonostateForVoid) {
  auto nothing = [] {};
  auto three = [] { return 3; };
  EXPECT_EQ(stolen(nothing, three), std::pair(std::monostate(), 3));
  EXPECT_EQ(stolen(three, nothing), std::pair(3, std::monostate()));
  EXPECT_EQ(unstolen(nothing, three), std::pair(std::monostate(), 3));
  EXPECT_EQ(unstolen(three, nothing), std::pair(3, std::monostate()));
}

TEST_F(Join, OfTwoVoidsIsVoid) {
  static_assert(std::is_void_v<decltype(join([] {}, [] {}))>);
  std::atomic<int> calls{0};
  stolen([&] { ++calls; }, [&] { ++calls; });
  unstolen([&] { ++calls; }, [&] { ++calls; });
  EXPECT_EQ(calls, 4);
}

TEST_F(Join, ReturnsReferencesAsReferences) {
  int a = 0;
  int b = 0;
  auto left = [&]() -> int& { return a; };
  auto right = [&]() -> int& { return b; };
  auto check = [&](std::pair<int&, int&> both) {
    EXPECT_EQ(&both.first, &a);
    EXPECT_EQ(&both.second, &b);
  };
  check(stolen(left, right));
  check(unstolen(left, right));
}

TEST_F(Join, MovesResultsThatCannotBeCopied) {
  auto make = [] { return std::make_unique<int>(7); };
  auto [a, b] = stolen(make, make);
  EXPECT_EQ(*a + *b, 14);
  auto [c, d] = unstolen(make, make);
  EXPECT_EQ(*c + *d, 14);
}

TEST_F(Join, CallsCallablesThatCannotBeCopied) {
  auto sum = [x = std::make_unique<int>(2)] { return *x; };
  p.run([&] {
    auto [a, b] = join(std::move(sum), [y = std::make_unique<int>(3)] { return *y; });
    EXPECT_EQ(a + b, 5);
  });
}

int free_function() { return 11; }

TEST_F(Join, TakesPlainFunctions) {
  EXPECT_EQ(p.run([] { return join(free_function, &free_function); }), std::pair(11, 11));
}

// -- exceptions ----------------------------------------------------------------------------------

struct left_error {};
struct right_error {};

TEST_F(Join, ThrowsWhatTheLeftSideThrew) {
  auto bad = []() -> int { throw left_error(); };
  auto good = [] { return 1; };
  EXPECT_THROW(stolen(bad, good), left_error);
  EXPECT_THROW(unstolen(bad, good), left_error);
}

TEST_F(Join, ThrowsWhatTheRightSideThrew) {
  auto bad = []() -> int { throw right_error(); };
  auto good = [] { return 1; };
  EXPECT_THROW(stolen(good, bad), right_error);
  EXPECT_THROW(unstolen(good, bad), right_error);
}

TEST_F(Join, LeftExceptionWinsWhenBothThrow) {
  auto bad_left = []() -> int { throw left_error(); };
  auto bad_right = []() -> int { throw right_error(); };
  EXPECT_THROW(stolen(bad_left, bad_right), left_error);
  EXPECT_THROW(unstolen(bad_left, bad_right), left_error);
}

TEST_F(Join, RightSideFinishesWhenTheLeftOneThrows) {
  std::atomic<int> finished{0};
  auto bad = [] { throw left_error(); };
  auto right = [&] { ++finished; };
  EXPECT_THROW(stolen(bad, right), left_error);
  EXPECT_EQ(finished, 1);
  EXPECT_THROW(unstolen(bad, right), left_error);
  EXPECT_EQ(finished, 2);
}

TEST_F(Join, StolenRightSideIsWaitedForWhenTheLeftOneThrows) {
  std::latch left_threw(1);
  bool finished = false;
  EXPECT_THROW(p.run([&] {
    std::latch begun(1);
    join(
        [&] {
          begun.wait();
          left_threw.count_down();
          throw left_error();
        },
        [&] {
          begun.count_down();
          left_threw.wait();
          finished = true;
        });
  }),
               left_error);
  EXPECT_TRUE(finished);
}

TEST_F(Join, ResultOfTheRightSideIsDestroyedWhenTheLeftOneThrows) {
  auto tracked = std::make_shared<int>(1);
  auto bad = []() -> int { throw left_error(); };
  EXPECT_THROW(stolen(bad, [&] { return tracked; }), left_error);
  EXPECT_THROW(unstolen(bad, [&] { return tracked; }), left_error);
  EXPECT_EQ(tracked.use_count(), 1);
}

TEST_F(Join, ExceptionsPassThroughNestedJoins) {
  auto deep = [](auto& self, int depth) -> int {
    if (depth == 0) throw std::runtime_error("leaf");
    auto [a, b] = join([&] { return self(self, depth - 1); }, [&] { return depth; });
    return a + b;
  };
  for (int i = 0; i < test::rounds(2000); ++i) {
    ASSERT_THROW(p.run([&] { return deep(deep, 10); }), std::runtime_error);
  }
}

struct throws_when_moved {
  explicit throws_when_moved(bool t) : armed(t) {}
  throws_when_moved(throws_when_moved&& o) : armed(o.armed) {
    if (armed) throw std::domain_error("moved");
  }
  bool armed;
};

TEST_F(Join, ThrowingMoveOfAResultReachesTheCaller) {
  auto armed = [] { return throws_when_moved(true); };
  auto calm = [] { return throws_when_moved(false); };
  EXPECT_THROW(stolen(calm, armed), std::domain_error);
  EXPECT_THROW(unstolen(calm, armed), std::domain_error);
  EXPECT_THROW(stolen(armed, calm), std::domain_error);
  EXPECT_THROW(unstolen(armed, calm), std::domain_error);
}

// -- nesting -------------------------------------------------------------------------------------

int fib(int n) {
  if (n < 2) return n;
  auto [a, b] = join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

TEST_F(Join, NestsToAnyShape) {
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(p.run([] { return fib(test::under_sanitizer ? 16 : 22); }),
              test::under_sanitizer ? 987 : 17711);
}

TEST_F(Join, GivesTheSameResultWithoutAsymmetricFences) {
  pool fenced({.workers = 2, .asymmetric_fences = false});
  for (int i = 0; i < 10; ++i) ASSERT_EQ(fenced.run([] { return fib(16); }), 987);
}

void count_rights(int depth, std::latch& rights) {
  if (depth == 0) return rights.wait();
  join([&] { count_rights(depth - 1, rights); }, [&] { rights.count_down(); });
}

TEST_F(Join, OthersCompleteEveryForkOfAWorkerThatIsBusyInALeaf) {
  for (int i = 0; i < test::rounds(1000); ++i) {
    std::latch rights(8);
    p.run([&] { count_rights(8, rights); });
  }
  pool three({.workers = 3});
  for (int i = 0; i < test::rounds(1000); ++i) {
    std::latch rights(8);
    three.run([&] { count_rights(8, rights); });
  }
  pool fenced({.workers = 2, .asymmetric_fences = false});
  for (int i = 0; i < test::rounds(1000); ++i) {
    std::latch rights(8);
    fenced.run([&] { count_rights(8, rights); });
  }
}

TEST_F(Join, DequeGrowsUnderDeepNesting) {
  pool deep({.workers = 2, .stack_size = std::size_t{512} << 20});
  auto nest = [](auto& self, int depth) -> int {
    if (depth == 0) return 0;
    auto [a, b] = join([&] { return self(self, depth - 1); }, [] { return 1; });
    return a + b;
  };
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(deep.submit([&] { return nest(nest, 10'000); }).get(), 10'000);
  }
}

TEST_F(Join, JobsSpawnedByTheLeftSideMayStayBehind) {
  std::atomic<int> ran{0};
  std::atomic<int> rights{0};
  const int rounds = test::rounds(5000);
  for (int i = 0; i < rounds; ++i) {
    p.run([&] {
      join(
          [&] {
            for (int k = 0; k < 3; ++k) p.spawn([&] { ++ran; });
          },
          [&] { ++rights; });
    });
  }
  p.shutdown();
  EXPECT_EQ(rights, rounds);
  EXPECT_EQ(ran, 3 * rounds);
}

// The left side waits for a job that runs elsewhere, helps, and so runs the right side itself. What
// it spawns afterwards takes the same place in the deque, and must not be mistaken for it.
TEST_F(Join, RightSideThatRanWhileTheLeftOneWaitedIsNotRunAgain) {
  std::latch other_is_busy(1);
  std::latch right_ran(1);
  std::latch other_is_busy_again(1);
  std::latch over(1);
  auto elsewhere = p.submit([&] {
    other_is_busy.count_down();
    right_ran.wait();
    p.spawn([&] {
      other_is_busy_again.count_down();
      over.wait();
    });
  });
  other_is_busy.wait();
  std::atomic<int> rights{0};
  std::atomic<int> spawned{0};
  p.run([&] {
    join(
        [&] {
          elsewhere.wait();
          p.spawn([&] { ++spawned; });
        },
        [&] {
          if (++rights > 1) return;
          right_ran.count_down();
          other_is_busy_again.wait();
        });
    over.count_down();
  });
  p.shutdown();
  EXPECT_EQ(rights, 1);
  EXPECT_EQ(spawned, 1);
}

// As above, with joins around it whose right sides are below in the deque.
TEST_F(Join, WaitInsideALeafRunsEachOuterRightSideOnce) {
  std::latch other_is_busy(1);
  std::latch rights_ran(4);
  auto elsewhere = p.submit([&] {
    other_is_busy.count_down();
    rights_ran.wait();
  });
  other_is_busy.wait();
  std::atomic<int> rights{0};
  std::atomic<int> spawned{0};
  auto nest = [&](auto& self, int depth) -> void {
    if (depth == 0) {
      elsewhere.wait();
      return;
    }
    join(
        [&] {
          self(self, depth - 1);
          p.spawn([&] { ++spawned; });
        },
        [&] {
          if (rights++ < 4) rights_ran.count_down();
        });
  };
  p.run([&] { nest(nest, 4); });
  p.shutdown();
  EXPECT_EQ(rights, 4);
  EXPECT_EQ(spawned, 4);
}

// -- outside a pool ------------------------------------------------------------------------------

TEST_F(Join, OutsideAPoolRunsBothSidesAtOnceOnTheGlobalPool) {
  for (int i = 0; i < test::rounds(1000); ++i) {
    std::barrier together(2);
    join([&] { together.arrive_and_wait(); }, [&] { together.arrive_and_wait(); });
  }
}

TEST_F(Join, OutsideAPoolReturnsAndThrowsLikeInside) {
  EXPECT_EQ(join([] { return 1; }, [] { return 2; }), std::pair(1, 2));
  EXPECT_THROW(join([] { throw left_error(); }, [] { throw right_error(); }), left_error);
  EXPECT_THROW(join([] {}, [] { throw right_error(); }), right_error);
  EXPECT_EQ(pool::current(), nullptr);
  EXPECT_EQ(fib(12), 144);
}

TEST_F(Join, LeavesTheGlobalPoolWhenItIsOver) {
  join([] { EXPECT_EQ(pool::current(), &pool::global()); }, [] {});
  EXPECT_EQ(pool::current(), nullptr);
}

TEST_F(Join, ManyOutsideThreadsShareTheGlobalPool) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < test::rounds(500); ++k) ASSERT_EQ(fib(10), 55);
    });
  }
}

TEST_F(Join, InsideOnePoolDoesNotUseAnother) {
  p.run([&] {
    join([&] { EXPECT_EQ(pool::current(), &p); }, [&] { EXPECT_EQ(pool::current(), &p); });
  });
}

// -- bad input -----------------------------------------------------------------------------------

TEST_F(Join, NullFunctionIsAnError) {
  int (*nothing)() = nullptr;
  EXPECT_THROW(p.run([&] { join(nothing, [] {}); }), std::invalid_argument);
  EXPECT_THROW(p.run([&] { join([] {}, nothing); }), std::invalid_argument);
  EXPECT_THROW(p.run([&] { join([] {}, std::function<void()>()); }), std::invalid_argument);
}

}  // namespace
}  // namespace weft
