#include <weft/core/context.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/core/blocking.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/span_listener.hpp>
#include <weft/core/task_group.hpp>

#include <support/scale.hpp>

namespace weft {
namespace {

std::string current_name() { return std::string(context::current().name()); }

TEST(Context, IsNoneAtFirst) {
  EXPECT_FALSE(context::current());
  EXPECT_EQ(context::current().name(), "");
  EXPECT_FALSE(context::current().trace());
  EXPECT_EQ(context::current().traceparent(), "");
}

TEST(Context, IsThatOfTheInnermostScope) {
  const context_scope outer(context::new_trace("outer"));
  {
    const context_scope inner(context::current().part("inner"));
    EXPECT_EQ(current_name(), "inner");
  }
  EXPECT_EQ(current_name(), "outer");
}

TEST(Context, OfAPartBelongsToTheSameTrace) {
  const context whole = context::new_trace("whole");
  const context part = whole.part("part");
  EXPECT_TRUE(whole.trace());
  EXPECT_EQ(part.trace(), whole.trace());
  EXPECT_EQ(part.parent_span(), whole.span());
  EXPECT_NE(part.span(), whole.span());
}

TEST(Context, OfAPartOfNoneIsJustAName) {
  const context part = context().part("part");
  EXPECT_EQ(part.name(), "part");
  EXPECT_FALSE(part.trace());
  EXPECT_FALSE(part.parent_span());
}

TEST(Context, GoesOnWithATraceThatBeganElsewhere) {
  const std::string header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  const context here = context::from_traceparent(header, "checkout");
  EXPECT_EQ(to_string(here.trace()), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(to_string(here.parent_span()), "b7ad6b7169203331");
  EXPECT_EQ(here.traceparent(),
            "00-0af7651916cd43dd8448eb211c80319c-" + to_string(here.span()) + "-00");
}

TEST(Context, TakesLaterVersionsOfTheHeader) {
  const context here = context::from_traceparent(
      "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes", "checkout");
  EXPECT_EQ(to_string(here.trace()), "0af7651916cd43dd8448eb211c80319c");
}

TEST(Context, BeginsANewTraceForAHeaderThatIsNone) {
  for (const char* bad : {"", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
                          "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                          "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                          "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
                          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
                          "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01"}) {
    const context here = context::from_traceparent(bad, "checkout");
    EXPECT_TRUE(here.trace()) << bad;
    EXPECT_NE(to_string(here.trace()), "0af7651916cd43dd8448eb211c80319c") << bad;
    EXPECT_FALSE(here.parent_span()) << bad;
  }
}

TEST(Context, CutsNamesThatAreMuchTooLong) {
  EXPECT_EQ(context::new_trace(std::string(1'000'000, 'x')).name().size(), 4096U);
}

TEST(Context, GoesWithWhatIsSpawned) {
  std::string seen;
  pool p({.workers = 2});
  {
    const context_scope scope(context::new_trace("request"));
    std::latch done(1);
    p.spawn([&] {
      p.spawn([&] {
        seen = current_name();
        done.count_down();
      });
    });
    done.wait();
  }
  EXPECT_EQ(seen, "request");
}

TEST(Context, GoesWithWhatIsSubmittedAndContinued) {
  pool p({.workers = 2});
  const context_scope scope(context::new_trace("request"));
  auto submitted = p.submit(current_name);
  auto continued = p.submit([] { return 1; }).then([](int) { return current_name(); });
  EXPECT_EQ(submitted.get(), "request");
  EXPECT_EQ(continued.get(), "request");
}

TEST(Context, OfAContinuationIsThatOfWhoAskedForIt) {
  pool p({.workers = 1});
  std::latch go(1);
  future<int> first;
  {
    const context_scope scope(context::new_trace("first"));
    first = p.submit([&] {
      go.wait();
      return 1;
    });
  }
  future<std::string> second;
  {
    const context_scope scope(context::new_trace("second"));
    second = std::move(first).then([](int) { return current_name(); });
  }
  go.count_down();
  EXPECT_EQ(second.get(), "second");
}

TEST(Context, GoesWithAGroupAndWithRun) {
  pool p({.workers = 2});
  const context_scope scope(context::new_trace("request"));
  std::string in_group;
  task_group g(p);
  g.spawn([&] { in_group = current_name(); });
  g.wait();
  EXPECT_EQ(in_group, "request");
  EXPECT_EQ(p.run(current_name), "request");
}

TEST(Context, OfAWorkerEndsWithItsJob) {
  pool p({.workers = 1});
  {
    const context_scope scope(context::new_trace("request"));
    p.submit([] {}).get();
  }
  EXPECT_EQ(p.submit(current_name).get(), "");
}

// While a job waits, its worker helps others.
TEST(Context, OfAJobThatWaitsIsNotThatOfTheOneThatRunsMeanwhile) {
  std::string helped = "none";
  std::string afterwards;
  pool p({.workers = 1});
  std::latch both(1);
  future<void> waits;
  {
    const context_scope scope(context::new_trace("request"));
    waits = p.submit([&] {
      both.wait();
      p.submit([] {}).get();
      afterwards = current_name();
    });
  }
  auto other = p.submit([&] { helped = current_name(); });
  both.count_down();
  waits.get();
  other.get();
  EXPECT_EQ(helped, "");
  EXPECT_EQ(afterwards, "request");
}

TEST(Context, GoesWithoutTheJobsThatADrivingThreadRuns) {
  std::string seen = "none";
  pool p({.deterministic_seed = 1});
  p.spawn([&] { seen = current_name(); });
  const context_scope scope(context::new_trace("request"));
  EXPECT_EQ(p.submit(current_name).get(), "request");
  p.shutdown();  // runs what is left
  EXPECT_EQ(seen, "");
  EXPECT_EQ(current_name(), "request");
}

TEST(Context, IdsDifferBetweenThreads) {
  std::vector<trace_id> ids(4);
  {
    std::vector<std::jthread> threads;
    for (trace_id& id : ids) threads.emplace_back([&id] { id = new_trace_id(); });
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(ids[i], ids[k]);
  }
}

TEST(Context, IdsDifferInAForkedChild) {
  static_cast<void>(new_trace_id());  // the thread has its seed
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const trace_id id = new_trace_id();
    ::_exit(::write(ends[1], &id, sizeof(id)) == sizeof(id) ? 0 : 1);
  }
  trace_id theirs;
  EXPECT_EQ(::read(ends[0], &theirs, sizeof(theirs)), static_cast<ssize_t>(sizeof(theirs)));
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_NE(new_trace_id(), theirs);
}

class counts_spans final : public span_listener {
 public:
  void span_ended(const ended_span& /*span*/) noexcept override { ++count; }
  int count = 0;  // one at a time is told
};

TEST(SpanListener, IsToldOfContextsThatEndAndNotAfterItWasRemoved) {
  const auto listener = std::make_shared<counts_spans>();
  static_cast<void>(context::new_trace("before"));
  add_span_listener(listener);
  static_cast<void>(context::new_trace("while"));
  remove_span_listener(*listener);
  static_cast<void>(context::new_trace("after"));
  EXPECT_EQ(listener->count, 1);
}

// Another thread may hold the lock of the listeners at the moment of the fork.
TEST(SpanListener, IsNotWaitedForInAForkedChild) {
  if (test::under_tsan) return;  // it does not follow forks of programs with threads
  const auto listener = std::make_shared<counts_spans>();
  add_span_listener(listener);
  std::jthread busy([](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(context::new_trace("busy"));
  });
  for (int i = 0; i < 50; ++i) {
    const context mine = context::new_trace("mine");
    const pid_t child = ::fork();
    if (child == 0) {
      static_cast<void>(context(mine).part("child"));
      ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  busy.request_stop();
  busy.join();
  remove_span_listener(*listener);
}

}  // namespace
}  // namespace weft
