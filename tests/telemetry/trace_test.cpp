#include <weft/telemetry/trace.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <latch>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/core/context.hpp>
#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>
#include <weft/telemetry/schema.hpp>

#include <support/drawn_trace.hpp>
#include <support/resident_memory.hpp>
#include <support/scale.hpp>
#include <support/temporary_directory.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;
using test::drawn_trace;
using test::resident_kib;
using ::testing::HasSubstr;

TEST(Trace, OfNothingIsADocument) {
  const trace t;
  EXPECT_TRUE(drawn_trace(t.json()).slices.empty());
}

TEST(Trace, DrawsEveryTaskOnTheTrackOfAWorker) {
  trace t;
  pool p({.workers = 2});
  const auto entry = t.add("main", p);
  t.start();
  for (int i = 0; i < 100; ++i) p.spawn([] {});
  p.shutdown();
  const drawn_trace drawn(t.json());
  EXPECT_EQ(drawn.count("task"), 100U);
  for (const auto& s : drawn.slices) {
    if (s.category != "task") continue;
    EXPECT_EQ(s.scheduler, "main");
    EXPECT_TRUE(s.track == "worker 0" || s.track == "worker 1") << s.track;
    EXPECT_TRUE(s.arguments.contains("waited_us"));
  }
}

TEST(Trace, DrawsAnArrowFromWhoeverSpawned) {
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  p.spawn([&] { p.spawn([] {}); });
  p.shutdown();
  const drawn_trace drawn(t.json());
  ASSERT_EQ(drawn.arrows_named("spawned"), 2U);
  std::set<std::string> from;
  for (const auto& a : drawn.arrows) from.insert(a.from);
  EXPECT_TRUE(from.contains("worker 0"));
  EXPECT_EQ(from.size(), 2U) << "the other one comes from this thread";
  EXPECT_EQ(drawn.count_named("spawns a job"), 1U);
}

// The first job keeps its worker until the other one has taken the second.
TEST(Trace, DrawsAnArrowToWhoeverStole) {
  std::latch stolen(1);
  trace t;
  pool p({.workers = 2});
  const auto entry = t.add("main", p);
  t.start();
  p.spawn([&] {
    p.spawn([&] { stolen.count_down(); });
    stolen.wait();
  });
  p.shutdown();
  const drawn_trace drawn(t.json());
  EXPECT_EQ(drawn.arrows_named("stolen"), 1U);
  for (const auto& a : drawn.arrows) {
    if (a.name == "stolen") {
      EXPECT_NE(a.from, a.to);
    }
  }
}

TEST(Trace, CountsWhatIsQueuedAndWhatRuns) {
  std::latch begun(1);  // they outlive the pool, and who looks at them
  std::latch go(1);
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  p.spawn([&] {
    begun.count_down();
    go.wait();
  });
  begun.wait();
  for (int i = 0; i < 10; ++i) p.spawn([] {});
  go.count_down();
  p.shutdown();
  const drawn_trace drawn(t.json());
  long most_queued = 0;
  long most_running = 0;
  for (const auto& c : drawn.counters) {
    EXPECT_EQ(c.name, "tasks");
    most_queued = std::max(most_queued, c.queued);
    most_running = std::max(most_running, c.running);
  }
  EXPECT_EQ(most_queued, 10);
  EXPECT_EQ(most_running, 1);
  EXPECT_EQ(drawn.counters.back().queued, 0);
  EXPECT_EQ(drawn.counters.back().running, 0);
}

TEST(Trace, DoesNotCountWhatWasRefusedAsQueued) {
  std::latch begun(1);
  std::latch go(1);
  trace t;
  pool p({.workers = 1, .max_pending = 1, .overflow = when_full::reject});
  const auto entry = t.add("main", p);
  t.start();
  p.spawn([&] {
    begun.count_down();
    go.wait();
  });
  begun.wait();
  p.spawn([] {});
  for (int i = 0; i < 3; ++i) EXPECT_THROW(p.spawn([] {}), queue_full);
  go.count_down();
  p.shutdown();
  EXPECT_THROW(p.spawn([] {}), pool_stopped);
  const drawn_trace drawn(t.json());
  EXPECT_EQ(drawn.count("task"), 2U);
  EXPECT_EQ(drawn.arrows_named("spawned"), 2U);
  EXPECT_EQ(drawn.counters.back().queued, 0);
}

TEST(Trace, DoesNotCountWhatTheCallerRunsAsQueued) {
  std::latch begun(1);
  std::latch go(1);
  trace t;
  pool p({.workers = 1, .max_pending = 1, .overflow = when_full::run_in_caller});
  const auto entry = t.add("main", p);
  t.start();
  p.spawn([&] {
    begun.count_down();
    go.wait();
  });
  begun.wait();
  p.spawn([] {});
  bool ran = false;
  p.spawn([&] { ran = true; });
  EXPECT_TRUE(ran);
  go.count_down();
  p.shutdown();
  EXPECT_EQ(drawn_trace(t.json()).counters.back().queued, 0);
}

TEST(Trace, NamesTasksAsTheirContext) {
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  {
    const context_scope scope(context().part("resize \"photo\""));
    p.spawn([] {});
    p.submit([] { return 1; }).then([](int) {}).get();
  }
  p.spawn([] {});
  p.shutdown();
  const drawn_trace drawn(t.json());
  EXPECT_EQ(drawn.count_named("resize \"photo\""), 3U);
  EXPECT_GE(drawn.count_named("job"), 1U);
}

// The caller of run() takes the place of a worker that sleeps, or its function is a job.
TEST(Trace, DrawsGuests) {
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  EXPECT_EQ(p.run([] { return 7; }), 7);
  p.shutdown();
  const drawn_trace drawn(t.json());
  EXPECT_EQ(drawn.count("task") + drawn.count("guest"), 1U);
}

TEST(Trace, IsTurnedOnAndOffWhileThePoolWorks) {
  trace t;
  pool p({.workers = 2});
  const auto entry = t.add("main", p);
  const auto spawn_some = [&](std::string_view name) {
    const context_scope scope(context().part(name));
    for (int i = 0; i < 10; ++i) p.submit([] {}).get();
  };
  spawn_some("before");
  t.start();
  EXPECT_TRUE(t.stats().on);
  spawn_some("first");
  t.stop();
  EXPECT_FALSE(t.stats().on);
  spawn_some("between");
  t.start();
  spawn_some("second");
  t.stop();
  p.shutdown();
  const drawn_trace drawn(t.json());
  EXPECT_EQ(drawn.count_named("before"), 0U);
  EXPECT_EQ(drawn.count_named("first"), 10U);
  EXPECT_EQ(drawn.count_named("between"), 0U);
  EXPECT_EQ(drawn.count_named("second"), 10U);
}

TEST(Trace, ShowsWhatGoesOnStill) {
  std::latch begun(1);  // they outlive the pool, and who looks at them
  std::latch go(1);
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  p.spawn([&] {
    begun.count_down();
    go.wait();
  });
  begun.wait();
  const drawn_trace drawn(t.json());
  ASSERT_NE(drawn.find("job"), nullptr);
  EXPECT_TRUE(drawn.find("job")->arguments.at("goes_on"));
  EXPECT_EQ(drawn.counters.back().running, 1);
  go.count_down();
}

TEST(Trace, RemembersTheLastEventsOnly) {
  trace t({.events_per_thread = 64});
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  p.submit([&] {
     for (int i = 0; i < 10'000; ++i) p.spawn([] {});
   }).get();
  p.shutdown();
  const trace_stats stats = t.stats();
  EXPECT_GT(stats.events, 10'000U);
  EXPECT_GT(stats.overwritten, 0U);
  const drawn_trace drawn(t.json());
  EXPECT_GT(drawn.slices.size(), 0U);
  EXPECT_LE(drawn.slices.size(), 64U * stats.threads);
}

TEST(Trace, LeavesThreadsBeyondItsNumberOut) {
  trace t({.threads_max = 1});
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  p.submit([] {}).get();
  EXPECT_EQ(t.stats().threads, 1U);
  EXPECT_GT(t.stats().refused, 0U);
  EXPECT_NO_THROW(drawn_trace(t.json()));
}

TEST(Trace, GivesTheRoomOfThreadsThatEndedToNewOnes) {
  trace t({.threads_max = 3});
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  for (int i = 0; i < 20; ++i) std::jthread([&] { p.submit([] {}).get(); });
  EXPECT_LE(t.stats().threads, 3U);
  EXPECT_EQ(t.stats().refused, 0U);
  t.stop();
}

TEST(Trace, TakesAThreadThatItHadNoRoomForOnceAnotherHasEnded) {
  trace t({.threads_max = 2});
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  p.submit([] {}).get();  // its thread is there
  t.start();
  std::latch both_are_in(1);
  std::latch go(1);
  std::jthread other([&] {
    p.submit([] {}).get();
    both_are_in.count_down();
    go.wait();
  });
  both_are_in.wait();
  const auto shows_this_thread = [&] {
    const drawn_trace drawn(t.json());
    const std::string number = " " + std::to_string(::gettid());
    return std::ranges::any_of(drawn.slices,
                               [&](const auto& s) { return s.track.ends_with(number); });
  };
  for (int i = 0; i < 3; ++i) p.submit([] {}).get();
  EXPECT_FALSE(shows_this_thread());
  EXPECT_EQ(t.stats().refused, 1U) << "a thread counts once";
  go.count_down();
  other.join();
  p.submit([] {}).get();
  EXPECT_TRUE(shows_this_thread());
  EXPECT_EQ(t.stats().refused, 1U);
}

TEST(Trace, KeepsWhatItKnowsOfAPoolThatIsGone) {
  trace t;
  t.start();
  {
    pool p({.workers = 1});
    const auto entry = t.add("short-lived", p);
    p.submit([] {}).get();
  }
  EXPECT_EQ(drawn_trace(t.json()).count("task"), 1U);
}

TEST(Trace, MayEndBeforeThePool) {
  pool p({.workers = 2});
  {
    trace t;
    auto entry = t.add("main", p);
    t.start();
    p.submit([] {}).get();
  }
  p.submit([] {}).get();
  trace next;
  const auto entry = next.add("main", p);
  next.start();
  p.submit([] {}).get();
  p.shutdown();
  EXPECT_EQ(drawn_trace(next.json()).count("task"), 1U);
}

TEST(Trace, MayBeWrittenWhileThreadsWork) {
  trace t({.events_per_thread = 256});
  pool p({.workers = 2});
  const auto entry = t.add("main", p);
  t.start();
  task_group g(p);
  for (int i = 0; i < 20'000; ++i) g.spawn([] {});
  for (int i = 0; i < 20; ++i) EXPECT_NO_THROW(drawn_trace(t.json()));
  g.wait();
}

TEST(Trace, SeesJobsThatRunOnTopOfOthersThatWait) {
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  p.submit([&] {
     p.submit([&] { p.submit([] {}).get(); }).get();
     p.submit([] {}).get();
   }).get();
  p.shutdown();
  const drawn_trace drawn(t.json());
  EXPECT_EQ(drawn.count("task"), 4U);
  for (const auto& s : drawn.slices) {
    // Which it has only if it begins after it was queued.
    if (s.category == "task") {
      EXPECT_TRUE(s.arguments.contains("waited_us"));
    }
  }
}

void compute_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// The slices of jobs, by their beginnings.
std::vector<drawn_trace::slice> jobs_of(const trace& t) {
  std::vector<drawn_trace::slice> jobs;
  for (const auto& s : drawn_trace(t.json()).slices) {
    if (s.category == "task") jobs.push_back(s);
  }
  std::ranges::sort(jobs, {}, &drawn_trace::slice::begin);
  return jobs;
}

TEST(Trace, OfAJobThatHelpsWhileItWaitsShowsNoGapsBetweenWhatItRuns) {
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  p.run([&] {
    task_group g(p);
    for (int i = 0; i < 10; ++i) g.spawn([] {});
    g.wait();
  });
  const auto jobs = jobs_of(t);
  ASSERT_EQ(jobs.size(), 10U);
  for (std::size_t i = 1; i < jobs.size(); ++i) EXPECT_NEAR(jobs[i].begin, jobs[i - 1].end, 0.002);
}

// What a job computes between two waits is not a part of what it runs in the second.
TEST(Trace, OfAJobThatWaitsAgainShowsWhatItComputedInBetween) {
  using body = void (*)(pool&);
  const std::vector<body> bodies = {
      [](pool& p) {
        p.submit([] {}).get();
        compute_for(5ms);
        p.submit([] {}).get();
      },
      [](pool& p) {
        EXPECT_TRUE(p.submit([] {}).wait_for(10s));
        compute_for(5ms);
        EXPECT_TRUE(p.submit([] {}).wait_for(10s));
      },
      // What one side of a fork has spawned runs before the other side.
      [](pool& p) {
        p.submit([] {}).get();
        compute_for(5ms);
        join([&] { p.spawn([] {}); }, [] {});
      },
      // As deep as may be: what is spawned runs at once.
      [](pool& p) {
        p.submit([&] {
           task_group g(p);
           g.spawn([] {});
           compute_for(5ms);
           g.spawn([] {});
           g.wait();
         }).get();
      },
  };
  for (const bool is_deterministic : {false, true}) {
    for (const body& b : bodies) {
      trace t;
      pool p({.workers = 1,
              .nesting_limit = 1,
              .deterministic_seed =
                  is_deterministic ? std::optional<std::uint64_t>(1) : std::nullopt});
      const auto entry = t.add("main", p);
      t.start();
      p.run([&] { b(p); });
      const auto jobs = jobs_of(t);
      ASSERT_GE(jobs.size(), 2U);
      EXPECT_GE(jobs.back().begin - jobs[jobs.size() - 2].end, 4'999);
    }
  }
}

TEST(Trace, IsToldOfTheEndOfAGuestAlsoWhenItIsTurnedOffMeanwhile) {
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  p.run([&] { t.stop(); });
  for (const auto& s : drawn_trace(t.json()).slices) EXPECT_FALSE(s.arguments.contains("goes_on"));
}

// A pool keeps its observers, but not what they have recorded.
TEST(Trace, TakesItsMemoryWithIt) {
  pool p({.workers = 2});
  const auto record = [&] {
    trace t;
    const auto entry = t.add("main", p);
    t.start();
    p.submit([] {}).get();
    p.submit([&] { p.submit([] {}).get(); }).get();
  };
  for (int i = 0; i < 3; ++i) record();
  const std::size_t before = resident_kib();
  for (int i = 0; i < 100; ++i) record();
  if (!test::under_sanitizer) {
    EXPECT_LT(resident_kib(), before + 50 * 1024);
  }
}

// Spawns when its thread ends, after what the trace knows of that thread has gone.
struct spawns_at_the_end {
  pool* to = nullptr;
  ~spawns_at_the_end() {
    to->spawn([] {});
  }
};

TEST(Trace, MayBeToldSomethingByAThreadThatIsAboutToEnd) {
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  std::jthread([&] {
    static thread_local spawns_at_the_end last;
    last.to = &p;
    p.submit([] {}).get();
  }).join();
  p.shutdown();
  EXPECT_EQ(drawn_trace(t.json()).count("task"), 2U);
}

// -- mistakes -------------------------------------------------------------------------------------

TEST(TraceErrors, OptionsThatMakeNoSenseAreRefused) {
  EXPECT_THROW(trace({.events_per_thread = 0}), std::invalid_argument);
  EXPECT_THROW(trace({.events_per_thread = std::size_t{1} << 60U}), std::invalid_argument);
  EXPECT_THROW(trace({.threads_max = 0}), std::invalid_argument);
}

TEST(TraceErrors, AnEmptyNameIsRefused) {
  trace t;
  pool p({.workers = 1});
  EXPECT_THROW(static_cast<void>(t.add("", p)), std::invalid_argument);
}

TEST(TraceErrors, APoolHasOneTraceAtATime) {
  trace first;
  trace second;
  pool p({.workers = 1});
  const auto a = first.add("main", p);
  const auto b = second.add("main", p);
  first.start();
  try {
    second.start();
    FAIL() << "both observe it";
  } catch (const std::logic_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("stop the other one first"));
  }
  EXPECT_FALSE(second.stats().on);
  first.stop();
  second.start();
  p.submit([] {}).get();
  p.shutdown();
  EXPECT_EQ(drawn_trace(first.json()).count("task"), 0U);
  EXPECT_EQ(drawn_trace(second.json()).count("task"), 1U);
}

// One that cannot be watched leaves the others as they were.
TEST(TraceErrors, StartingIsAllOrNothing) {
  trace taken;
  trace t;
  pool free({.workers = 1});
  pool busy({.workers = 1});
  const auto of_taken = taken.add("busy", busy);
  taken.start();
  const auto a = t.add("free", free);
  const auto b = t.add("busy", busy);
  EXPECT_THROW(t.start(), std::logic_error);
  taken.stop();
  trace other;
  const auto c = other.add("free", free);
  EXPECT_NO_THROW(other.start());
}

// Two pools as one scheduler.
struct two_pools {
  struct named {
    std::string name;
    std::string_view task_type;
    weft::lane& lane;
  };
  std::vector<named> lanes() {
    return {{"first", "cpu_bound", lane_of(a)}, {"second", "cpu_bound", lane_of(b)}};
  }
  pool& cpu_pool() { return a; }
  static std::string dump() { return {}; }

  pool a{{.workers = 1}};
  pool b{{.workers = 1}};
};

TEST(TraceErrors, AddingIsAllOrNothingWhileItIsOn) {
  trace other;
  trace t;
  two_pools both;
  const auto of_other = other.add("other", both.b);
  other.start();
  t.start();
  for (int i = 0; i < 20; ++i) {
    const std::jthread busy([&] {
      for (int k = 0; k < 10; ++k) both.a.submit([] {}).get();
    });
    EXPECT_THROW(static_cast<void>(t.add("both", both)), std::logic_error);
  }
  EXPECT_NO_THROW(drawn_trace(t.json()));
  EXPECT_NO_THROW(static_cast<void>(t.take_spans()));
  other.stop();
  EXPECT_NO_THROW(static_cast<void>(t.add("both", both)));
}

TEST(Trace, MayBeWrittenToOneFileByTwoThreads) {
  const test::temporary_directory where;
  trace t;
  const auto write = [&] {
    for (int i = 0; i < 50; ++i) EXPECT_NO_THROW(t.write(where.path("trace.json")));
  };
  {
    const std::jthread first(write);
    const std::jthread second(write);
  }
  EXPECT_EQ(where.names(), std::set<std::string>{"trace.json"});
}

TEST(TraceErrors, AFileThatCannotBeWrittenIsToldWithWhatToDo) {
  const trace t;
  try {
    t.write("/proc/no/such/directory/trace.json");
    FAIL() << "it was written";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::no_such_file_or_directory);
    EXPECT_THAT(e.what(), HasSubstr("/proc/no/such/directory/trace.json"));
    EXPECT_THAT(e.what(), HasSubstr("choose a directory"));
  }
}

TEST(TraceErrors, AFileThatCannotBeWrittenLeavesTheOneThatWasThere) {
  const test::temporary_directory where;
  where.write("trace.json/occupied", "a directory has the name");
  const trace t;
  EXPECT_THROW(t.write(where.path("trace.json")), std::system_error);
  EXPECT_EQ(where.names(), std::set<std::string>{"trace.json"});
  EXPECT_EQ(where.read("trace.json/occupied"), "a directory has the name");
}

TEST(Trace, IsWrittenWhereALinkLeadsTo) {
  const test::temporary_directory where;
  where.write("there/old.json", "old");
  std::filesystem::create_symlink("there/old.json", where.path("link.json"));
  std::filesystem::create_symlink("link.json", where.path("link_to_link.json"));
  std::filesystem::create_symlink("there/new.json", where.path("dangling.json"));
  const trace t;
  t.write(where.path("link_to_link.json"));
  t.write(where.path("dangling.json"));
  EXPECT_EQ(where.read("there/old.json"), t.json());
  EXPECT_EQ(where.read("there/new.json"), t.json());
  for (const char* link : {"link.json", "link_to_link.json", "dangling.json"}) {
    EXPECT_TRUE(std::filesystem::is_symlink(where.path(link))) << link;
  }
}

TEST(Trace, IsWrittenToAPipe) {
  const test::temporary_directory where;
  const std::string pipe = where.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const trace t;
  std::string read;
  {
    const std::jthread reader([&] { read = where.read("pipe"); });
    t.write(pipe);
  }
  EXPECT_EQ(read, t.json());
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(Trace, IsWrittenToADescriptorThatIsAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const trace t;
  const std::string text = t.json();
  ASSERT_LT(text.size(), 4096U) << "or it would not fit into the pipe";
  t.write("/proc/self/fd/" + std::to_string(ends[1]));
  ::close(ends[1]);
  std::string read(4096, ' ');
  read.resize(static_cast<std::size_t>(::read(ends[0], read.data(), read.size())));
  ::close(ends[0]);
  EXPECT_EQ(read, text);
}

TEST(TraceErrors, LinksThatLeadInACircleAndEmptyPathsAreRefused) {
  const test::temporary_directory where;
  std::filesystem::create_symlink("b", where.path("a"));
  std::filesystem::create_symlink("a", where.path("b"));
  const trace t;
  EXPECT_THROW(t.write(where.path("a")), std::system_error);
  EXPECT_EQ(where.names(), (std::set<std::string>{"a", "b"}));
  EXPECT_THROW(t.write(""), std::invalid_argument);
}

TEST(Trace, IsWrittenToAFile) {
  const test::temporary_directory where;
  trace t;
  t.write(where.path("trace.json"));
  EXPECT_EQ(where.read("trace.json"), t.json());
  EXPECT_EQ(where.names(), std::set<std::string>{"trace.json"});
}

// -- spans ----------------------------------------------------------------------------------------

const telemetry::span* find(const std::vector<telemetry::span>& all, std::string_view name) {
  for (const auto& s : all) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

TEST(TraceSpans, AreTheContextsThatEndedAndTheRunsOfTheirTasks) {
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  trace_id id;
  {
    const context_scope scope(context::new_trace("request"));
    id = context::current().trace();
    p.submit([] {}).get();
  }
  p.shutdown();
  const auto spans = t.take_spans();
  const telemetry::span* const request = find(spans, "request");
  const telemetry::span* const run = find(spans, telemetry::span_name::scheduler_task_execute);
  ASSERT_NE(request, nullptr);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(spans.size(), 2U);
  EXPECT_EQ(request->trace, id);
  EXPECT_FALSE(request->parent);
  EXPECT_EQ(run->trace, id);
  EXPECT_EQ(run->parent, request->id);
  EXPECT_LE(run->begin, run->end);
  EXPECT_LE(request->begin, run->begin);
  std::set<std::string> names;
  for (const auto& a : run->attributes) names.insert(a.name);
  EXPECT_EQ(names, (std::set<std::string>{"scheduler.task.id", "scheduler.task.type",
                                          "scheduler.worker.id", "scheduler.name",
                                          "scheduler.task.name"}));
  EXPECT_TRUE(t.take_spans().empty()) << "they were taken";
}

TEST(TraceSpans, AreNotMadeOfTracesThatAreNotSampled) {
  trace t;
  pool p({.workers = 1});
  const auto entry = t.add("main", p);
  t.start();
  {
    const context_scope scope(context::from_traceparent(
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", "request"));
    p.submit([] {}).get();
  }
  p.shutdown();
  EXPECT_TRUE(t.take_spans().empty());
}

TEST(TraceSpans, AreBoundedWhenNobodyTakesThem) {
  trace t;
  t.start();
  for (int i = 0; i < 10'500; ++i) static_cast<void>(context::new_trace("request"));
  EXPECT_EQ(t.take_spans().size(), 10'000U);
}

}  // namespace
}  // namespace weft
