// The code of docs/guide/instances.md.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/coro/async_event.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/flow/case_scope.hpp>
#include <weft/flow/each.hpp>

using namespace std::chrono_literals;

namespace {

struct sample {
  int id = 0;
};
struct verdict {
  bool positive = false;
};

verdict test(const sample& s) { return {.positive = s.id % 3 == 0}; }
weft::task<std::string> fetch(std::string host) { co_return "page of " + host; }
int sign() { return 1; }
void notify(int) {}

weft::task<> counts(weft::hybrid_scheduler& hs) {
  const std::vector<sample> samples{{1}, {2}, {3}};
  const std::vector<std::string> hosts{"a", "b"};
  // [instances-each]
  std::vector<verdict> verdicts = co_await weft::each(hs, samples, test);  // functions: the cores
  std::vector<std::string> pages = co_await weft::each(hs, hosts, fetch);  // coroutines: I/O
  std::array<int, 6> signatures = co_await weft::times<6>(hs, sign);
  // [/instances-each]
  EXPECT_TRUE(verdicts[2].positive);
  EXPECT_EQ(pages[1], "page of b");
  EXPECT_EQ(signatures[5], 1);
}

TEST(InstancesGuide, CountsKnownBefore) {
  weft::hybrid_scheduler hs;
  weft::sync_wait(counts(hs));
}

weft::task<> options(weft::hybrid_scheduler& hs) {
  const std::vector<std::string> hosts{"a", "b"};
  // [instances-options]
  auto pages = co_await weft::each(hs, hosts, fetch,
                                   {.max_running = 8,
                                    .retry = {.times = 3, .pause = 100ms},
                                    .timeout = 2s,
                                    .total_timeout = 1min,
                                    .name = "fetch"});
  // [/instances-options]
  EXPECT_EQ(pages.size(), 2U);
}

TEST(InstancesGuide, Options) {
  weft::hybrid_scheduler hs;
  weft::sync_wait(options(hs));
}

TEST(InstancesGuide, Outcomes) {
  weft::pool pool;
  const std::vector<int> items{1, 2, 3};
  const auto risky = [](int x) {
    if (x == 2) throw std::runtime_error("spilled");
    return x;
  };
  std::string log;
  const auto program = [](weft::pool& p, const std::vector<int>& xs, auto body,
                          std::string& text) -> weft::task<> {
    // [instances-outcomes]
    auto outcomes = co_await weft::each_outcome(
        p, xs, body, {.tolerated = weft::failure_tolerance{.percent = 50}});
    for (auto& o : outcomes) {
      text += std::to_string(o.index()) + ": " + std::string(to_string(o.kind())) + "\n";
    }
    // [/instances-outcomes]
  };
  weft::sync_wait(program(pool, items, risky, log));
  EXPECT_EQ(log, "0: value\n1: error\n2: value\n");
}

weft::task<std::size_t> open_group(weft::hybrid_scheduler& hs, std::vector<sample> feed) {
  // [instances-group]
  weft::instance_group<sample, verdict> tests(hs, test, {.join = weft::n_of(400)});
  {
    auto ticket = tests.open();
    for (const sample& s : feed) {
      if (!ticket.add(s)) break;  // there are enough
    }
  }
  auto outcomes = co_await tests.join();
  // [/instances-group]
  co_return outcomes.size();
}

TEST(InstancesGuide, AGroupThatIsOpen) {
  weft::hybrid_scheduler hs;
  EXPECT_EQ(weft::sync_wait(open_group(hs, {{1}, {2}})), 2U);
}

TEST(InstancesGuide, InstancesThatAddInstances) {
  weft::pool pool;
  // [instances-more]
  weft::instance_group<int, int> tree(pool, [](int depth, auto more) {
    if (depth > 0) {
      more.add(depth - 1);
      more.add(depth - 1);
    }
    return depth;
  });
  // [/instances-more]
  tree.open().add(3);
  EXPECT_EQ(weft::sync_wait(tree.join()).size(), 15U);
}

weft::task<int> stream(weft::pool& pool) {
  weft::instance_group<int, verdict> tests(pool, [](int id) { return test({.id = id}); });
  auto ticket = tests.open();
  for (const int id : {1, 2, 3, 4}) ticket.add(id);
  int found = -1;
  // [instances-stream]
  while (auto o = co_await tests.next()) {  // as they end
    if (*o && o->value().positive) {
      found = static_cast<int>(o->index());
      tests.complete();
      break;
    }
  }
  // [/instances-stream]
  co_return found;
}

TEST(InstancesGuide, AStreamOfOutcomes) {
  weft::pool pool;
  EXPECT_EQ(weft::sync_wait(stream(pool)), 2);
}

weft::task<std::size_t> rules(weft::pool& pool) {
  // [instances-until]
  weft::instance_group<int, int> g(pool, [](int x) { return x; },
                                   {.join = weft::until([](const weft::group_progress& p) {
                                      return p.values >= 3 && p.failures() == 0;
                                    })});
  // [/instances-until]
  auto ticket = g.open();
  for (int i = 0; i < 3; ++i) ticket.add(i);
  co_return (co_await g.join()).size();
}

TEST(InstancesGuide, AJoinRule) {
  weft::pool pool;
  EXPECT_EQ(weft::sync_wait(rules(pool)), 3U);
}

weft::task<std::size_t> a_case(weft::hybrid_scheduler& hs, std::vector<int> infringements) {
  // [instances-case]
  weft::case_scope c(hs);
  c.each(infringements, notify);  // copies the items, and does not wait
  // ... other activities of the case
  co_await c.join();
  // [/instances-case]
  co_return c.progress().values;
}

TEST(InstancesGuide, ACase) {
  weft::hybrid_scheduler hs;
  EXPECT_EQ(weft::sync_wait(a_case(hs, {1, 2, 3})), 3U);
}

}  // namespace
