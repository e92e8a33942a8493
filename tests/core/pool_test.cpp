#include <weft/core/pool.hpp>

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/task_group.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

template <class Error, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

// -- options -------------------------------------------------------------------------------------

std::string rejection(pool_options options) {
  return message_of<std::invalid_argument>([&] { pool p(std::move(options)); });
}

TEST(PoolOptions, TooManyWorkersAreRefused) {
  EXPECT_THAT(rejection({.workers = 100'000}),
              AllOf(HasSubstr("workers is 100000"), HasSubstr("between 1 and 1024")));
}

TEST(PoolOptions, MaximumBelowTheWorkersIsRefused) {
  EXPECT_THAT(rejection({.workers = 4, .max_workers = 2}),
              AllOf(HasSubstr("max_workers is 2"), HasSubstr("between 4 and")));
}

TEST(PoolOptions, MaximumAboveTheLimitIsRefused) {
  EXPECT_THAT(rejection({.workers = 1, .max_workers = 2000}), HasSubstr("max_workers is 2000"));
}

TEST(PoolOptions, TinyStackIsRefused) {
  EXPECT_THAT(rejection({.workers = 1, .stack_size = 100}), HasSubstr("stack_size is 100"));
}

TEST(PoolOptions, NestingLimitOfZeroIsRefused) {
  EXPECT_THAT(rejection({.workers = 1, .nesting_limit = 0}), HasSubstr("nesting_limit is 0"));
}

TEST(PoolOptions, DefaultsGiveAtLeastOneWorker) {
  pool p;
  EXPECT_GE(p.workers(), 1U);
  EXPECT_GE(p.max_workers(), 64U);
}

class WorkersVariable : public ::testing::Test {
 protected:
  explicit WorkersVariable() = default;
  void set(const char* value) { ASSERT_EQ(::setenv("WEFT_WORKERS", value, 1), 0); }
  ~WorkersVariable() override { ::unsetenv("WEFT_WORKERS"); }
};

TEST_F(WorkersVariable, GivesTheNumberOfWorkers) {
  set("3");
  EXPECT_EQ(pool().workers(), 3U);
}

TEST_F(WorkersVariable, IsNotAskedWhenTheProgramSays) {
  set("nonsense");
  EXPECT_EQ(pool({.workers = 1}).workers(), 1U);
}

TEST_F(WorkersVariable, WithNonsenseIsRefusedAndQuoted) {
  for (const char* bad : {"", "x", "0", "-1", "2x", "1.5", "99999999999999999999", "1025", " "}) {
    set(bad);
    EXPECT_THAT(message_of<std::invalid_argument>([] { pool p; }),
                AllOf(HasSubstr("WEFT_WORKERS"), HasSubstr(bad)))
        << '"' << bad << '"';
  }
}

// -- run -----------------------------------------------------------------------------------------

class Pool : public ::testing::Test {
 protected:
  pool p{{.workers = 2}};
  test::watchdog guard{30s, p};
};

// Keeps every worker busy, so that nothing else starts before it goes.
class occupied {
 public:
  explicit occupied(pool& p) : inside_(p.workers()), out_(1), gone_(p.workers()) {
    for (unsigned i = 0; i < p.workers(); ++i) {
      p.spawn([this] {
        inside_.count_down();
        out_.wait();
        gone_.count_down();
      });
    }
    inside_.wait();
  }
  ~occupied() {
    release();
    gone_.wait();
  }
  void release() {
    if (!std::exchange(released_, true)) out_.count_down();
  }

 private:
  std::latch inside_;
  std::latch out_;
  std::latch gone_;
  bool released_ = false;
};

TEST_F(Pool, RunReturnsWhatTheFunctionReturns) {
  EXPECT_EQ(p.run([] { return 5; }), 5);
  EXPECT_EQ(*p.run([] { return std::make_unique<int>(6); }), 6);
  int x = 0;
  EXPECT_EQ(&p.run([&]() -> int& { return x; }), &x);
  bool called = false;
  p.run([&] { called = true; });
  EXPECT_TRUE(called);
}

TEST_F(Pool, RunThrowsWhatTheFunctionThrows) {
  EXPECT_THROW(p.run([] { throw std::out_of_range("far"); }), std::out_of_range);
  EXPECT_THROW(p.run([]() -> int { throw 5; }), int);
  EXPECT_EQ(p.run([] { return 1; }), 1) << "the pool goes on";
}

TEST_F(Pool, RunOnABusyPoolWaitsForAWorker) {
  std::optional<occupied> busy(p);
  std::jthread caller([&] {
    EXPECT_EQ(p.run([] { return 5; }), 5);
    int x = 0;
    EXPECT_EQ(&p.run([&]() -> int& { return x; }), &x);
    EXPECT_EQ(*p.run([] { return std::make_unique<int>(6); }), 6);
    EXPECT_THROW(p.run([] { throw std::out_of_range("far"); }), std::out_of_range);
  });
  while (p.stats().queue_depth == 0) std::this_thread::yield();
  busy->release();
}

TEST_F(Pool, RunOnAnIdlePoolTakesPlaceInTheCallersThread) {
  EXPECT_EQ(p.run([] { return std::this_thread::get_id(); }), std::this_thread::get_id());
}

TEST_F(Pool, RunFromInsideIsAPlainCall) {
  p.run([&] {
    const auto here = std::this_thread::get_id();
    EXPECT_EQ(p.run([] { return std::this_thread::get_id(); }), here);
  });
}

TEST_F(Pool, CurrentIsThePoolWhoseJobRuns) {
  EXPECT_EQ(pool::current(), nullptr);
  EXPECT_EQ(p.run([] { return pool::current(); }), &p);
  EXPECT_EQ(p.submit([] { return pool::current(); }).get(), &p);
  EXPECT_EQ(pool::current(), nullptr);
}

TEST_F(Pool, RunInAnotherPoolAndComeBack) {
  pool q({.workers = 1});
  p.run([&] {
    EXPECT_EQ(q.run([] { return pool::current(); }), &q);
    EXPECT_EQ(pool::current(), &p);
  });
}

TEST(PoolPair, TwoPoolsOfOneWorkerMayCallEachOther) {
  pool a({.workers = 1});
  pool b({.workers = 1});
  const test::watchdog guard(20s, [&] { return a.dump() + b.dump(); });
  EXPECT_EQ(a.run([&] { return b.run([&] { return a.run([] { return 5; }); }); }), 5);
  EXPECT_EQ(a.run([&] { return b.run([&] { return a.submit([] { return 5; }).get(); }); }), 5);
  EXPECT_EQ(a.submit([&] { return b.run([&] { return a.run([] { return 5; }); }); }).get(), 5);
  EXPECT_EQ(a.submit([&] {
               return b.submit([&] { return a.submit([] { return 5; }).get(); }).get();
             }).get(),
            5);
}

TEST(PoolPair, TwoPoolsMayCallEachOtherFromBothSidesAtOnce) {
  pool a({.workers = 2});
  pool b({.workers = 2});
  const test::watchdog guard(60s, [&] { return a.dump() + b.dump(); });
  auto ping = [](pool& here, pool& there) {
    for (int i = 0; i < test::rounds(3000); ++i) {
      ASSERT_EQ(here.run([&] { return there.run([&] { return here.run([&] { return i; }); }); }),
                i);
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back(ping, std::ref(a), std::ref(b));
    threads.emplace_back(ping, std::ref(b), std::ref(a));
  }
}

// The worker sleeps inside a job while outside threads look for a seat.
TEST(PoolRun, GivesTheStopTokenOfThePoolToACallableThatTakesOne) {
  pool p({.workers = 1});
  EXPECT_EQ(p.run([](const std::stop_token& stop) { return stop; }), p.stop_token());
  EXPECT_EQ(p.run([&] { return p.run([](const std::stop_token& stop) { return stop; }); }),
            p.stop_token());
}

TEST(PoolPair, OutsideCallersFindTheSeatOfAWorkerThatWaits) {
  pool one({.workers = 1});
  pool other({.workers = 1});
  const test::watchdog guard(60s, [&] { return one.dump() + other.dump(); });
  std::atomic<int> ran{0};
  const int each = test::rounds(20'000);
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
      for (int i = 0; i < each; ++i) {
        one.submit([&] {
             other.submit([] {}).wait();
             one.spawn([&] { ++ran; });
           })
            .wait();
      }
    });
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < each; ++i) one.run([&] { ++ran; });
      });
    }
  }
  one.shutdown();
  EXPECT_EQ(ran, 3 * each);
}

// -- spawn and submit ----------------------------------------------------------------------------

TEST_F(Pool, SpawnRunsTheJob) {
  std::latch ran(100);
  for (int i = 0; i < 100; ++i) p.spawn([&] { ran.count_down(); });
  ran.wait();
}

TEST_F(Pool, SpawnGivesThePoolsStopToken) {
  std::latch ran(1);
  p.spawn([&](const std::stop_token& stop) {
    EXPECT_EQ(stop, p.stop_token());
    ran.count_down();
  });
  ran.wait();
}

TEST_F(Pool, SpawnNeverRunsTheJobInTheCaller) {
  const auto here = std::this_thread::get_id();
  std::latch ran(1);
  p.spawn([&] {
    EXPECT_NE(std::this_thread::get_id(), here);
    ran.count_down();
  });
  ran.wait();
}

TEST(PoolUnhandled, ExceptionOfASpawnedJobGoesToTheHandler) {
  std::latch handled(1);
  std::string what;
  pool p({.workers = 1, .on_unhandled = [&](const std::exception_ptr& e) {
            what = message_of<std::runtime_error>([&] { std::rethrow_exception(e); });
            handled.count_down();
          }});
  p.spawn([] { throw std::runtime_error("lost"); });
  handled.wait();
  EXPECT_EQ(what, "lost");
  EXPECT_EQ(p.submit([] { return 1; }).get(), 1) << "the worker goes on";
}

TEST(PoolUnhandledDeathTest, WithoutAHandlerTheProgramEndsWithAMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        pool p({.workers = 1, .name = "bakery"});
        p.spawn([] { throw std::runtime_error("burnt"); });
        p.shutdown();
      },
      "pool \"bakery\".*threw: burnt(.|\n)*on_unhandled");
}

TEST_F(Pool, SubmitPassesArguments) {
  EXPECT_EQ(p.submit([](int a, int b) { return a - b; }, 5, 3).get(), 2);
  EXPECT_EQ(p.submit([](std::unique_ptr<int> x) { return *x; }, std::make_unique<int>(4)).get(), 4);
  int changed = 0;
  p.submit([](int& x) { x = 1; }, std::ref(changed)).get();
  EXPECT_EQ(changed, 1);
  EXPECT_EQ(p.submit(&std::string::size, std::string("abc")).get(), 3U);
}

TEST_F(Pool, SubmitGivesAStopTokenToWhoWantsOne) {
  EXPECT_TRUE(p.submit([](const std::stop_token& s) { return s.stop_possible(); }).get());
  EXPECT_EQ(
      p.submit([](const std::stop_token& s, int x) { return s.stop_possible() ? x : 0; }, 7).get(),
      7);
}

TEST_F(Pool, EmptyFunctionsAreRefused) {
  void (*pointer)() = nullptr;
  std::function<void()> function;
  auto refused = [](auto call) {
    EXPECT_THAT(message_of<std::invalid_argument>(call), HasSubstr("empty function"));
  };
  refused([&] { p.run(pointer); });
  refused([&] { p.run(function); });
  refused([&] { p.spawn(pointer); });
  refused([&] { p.spawn(function); });
  refused([&] { auto f = p.submit(pointer); });
  refused([&] { auto f = p.submit(function); });
  refused([&] { auto f = p.submit([] {}).then(function); });
  task_group g(p);
  refused([&] { g.spawn(function); });
  int (std::string::*member)() const = nullptr;
  refused([&] { auto f = p.submit(member, std::string()); });
}

struct throws_on_copy {
  throws_on_copy() = default;
  throws_on_copy(const throws_on_copy&) { throw std::domain_error("copied"); }
  void operator()() const {}
};

TEST_F(Pool, CallableThatCannotBeCopiedIsReportedAndNothingIsQueued) {
  const throws_on_copy bad;
  EXPECT_THROW(p.spawn(bad), std::domain_error);
  EXPECT_THROW(auto f = p.submit(bad), std::domain_error);
  task_group g(p);
  EXPECT_THROW(g.spawn(bad), std::domain_error);
  g.wait();
  EXPECT_EQ(p.stats().queue_depth, 0U);
}

// -- threads -------------------------------------------------------------------------------------

TEST(PoolThreads, HooksAreCalledOnEveryThread) {
  std::mutex m;
  std::multiset<unsigned> started;
  std::multiset<unsigned> stopped;
  std::set<std::thread::id> threads;
  {
    pool p({.workers = 3,
            .on_thread_start =
                [&](unsigned i) {
                  const std::lock_guard lock(m);
                  started.insert(i);
                  threads.insert(std::this_thread::get_id());
                },
            .on_thread_stop =
                [&](unsigned i) {
                  const std::lock_guard lock(m);
                  stopped.insert(i);
                  EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
                }});
    p.resize(5);
  }
  EXPECT_EQ(started, (std::multiset<unsigned>{0, 1, 2, 3, 4}));
  EXPECT_EQ(stopped, started);
  EXPECT_EQ(threads.size(), 5U);
}

TEST(PoolThreads, AreNamedAfterThePool) {
  pool p({.workers = 1, .name = "a-rather-long-name"});
  EXPECT_EQ(p.submit([] {
               char name[16] = {};
               ::pthread_getname_np(::pthread_self(), name, sizeof(name));
               return std::string(name);
             }).get(),
            "a-rather-long/0");
}

TEST(PoolThreads, LeaveSignalsToTheProgram) {
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
  pool p({.workers = 1});
  p.submit([] {
     sigset_t blocked;
     ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
     for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1, SIGPIPE}) {
       EXPECT_EQ(::sigismember(&blocked, s), 1) << s;
     }
   }).get();
  sigset_t after;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (int s = 1; s < SIGRTMIN; ++s) {
    EXPECT_EQ(::sigismember(&after, s), ::sigismember(&before, s)) << "the caller keeps its own";
  }
}

TEST(PoolThreads, PinnedWorkersHaveOneCpuEach) {
  pool p({.workers = 2, .pin = true});
  std::latch both(2);
  auto cpus = [&] {
    both.arrive_and_wait();
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof(set), &set);
    return CPU_COUNT(&set);
  };
  auto a = p.submit(cpus);
  auto b = p.submit(cpus);
  EXPECT_EQ(a.get(), 1);
  EXPECT_EQ(b.get(), 1);
}

TEST(PoolThreads, NoMoreThanTheWorkersRunAtOnce) {
  pool p({.workers = 2});
  const test::watchdog guard(60s, p);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  auto body = [&] {
    const int now = ++running;
    int seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    for (int i = 0; i < 100; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
    --running;
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < test::rounds(5000); ++i) {
          if (t % 3 == 0) {
            p.spawn(body);
          } else {
            p.run(body);
          }
        }
      });
    }
  }
  p.shutdown();
  EXPECT_LE(most, 2);
}

// -- looking at it -------------------------------------------------------------------------------

TEST(PoolDump, NamesEveryWorkerAndWhatItDoes) {
  pool p({.workers = 3, .name = "bakery"});
  std::latch inside(1);
  std::latch out(1);
  p.spawn([&] {
    inside.count_down();
    out.wait();
  });
  inside.wait();
  const std::string text = p.dump();
  EXPECT_THAT(text, AllOf(HasSubstr("bakery"), HasSubstr("3 workers"), HasSubstr("worker 0"),
                          HasSubstr("worker 1"), HasSubstr("worker 2"), HasSubstr("running")));
  out.count_down();
  p.shutdown();
  EXPECT_THAT(p.dump(), HasSubstr("shut down"));
}

TEST(PoolFences, WithoutAsymmetricOnesEverythingWorksTheSame) {
  pool p({.workers = 2, .asymmetric_fences = false});
  const test::watchdog guard(60s, p);
  for (int i = 0; i < test::rounds(2000); ++i) {
    EXPECT_EQ(p.run([] {
      auto [a, b] = join([] { return 1; }, [] { return 2; });
      return a + b;
    }),
              3);
    EXPECT_EQ(p.submit([] { return 4; }).then([](int x) { return x + 1; }).get(), 5);
    task_group g(p);
    std::atomic<int> n{0};
    for (int k = 0; k < 10; ++k) g.spawn([&] { ++n; });
    g.wait();
    ASSERT_EQ(n, 10);
  }
}

}  // namespace
}  // namespace weft
