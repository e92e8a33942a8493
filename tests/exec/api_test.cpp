// What an executor offers: submit, map over all kinds of ranges, waiting for several, shutdown.

#include <weft/exec/completion.hpp>
#include <weft/exec/executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <forward_list>
#include <functional>
#include <latch>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <ranges>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

int twice(int x) { return 2 * x; }

template <class Range>
auto collect(Range&& range) {
  std::vector<std::ranges::range_value_t<Range>> all;
  for (auto&& r : range) all.push_back(std::forward<decltype(r)>(r));
  return all;
}

class Executor : public testing::TestWithParam<unsigned> {
 protected:
  weft::test::watchdog guard{60s};
  weft::executor ex{{.max_workers = GetParam(), .sizing = weft::sizing_policy::fixed}};
};
INSTANTIATE_TEST_SUITE_P(Workers, Executor, testing::Values(1, 2, 4));

TEST_P(Executor, SubmitGivesAFutureOfTheResult) {
  EXPECT_EQ(ex.submit(twice, 21).get(), 42);
  EXPECT_EQ(ex.submit([](std::string a, const std::string& b) { return a + b; }, "x", "y").get(),
            "xy");
  ex.submit([] {}).get();
}

TEST_P(Executor, SubmitTakesWhatCanOnlyBeMoved) {
  auto f = ex.submit([p = std::make_unique<int>(7)](std::unique_ptr<int> q) { return *p + *q; },
                     std::make_unique<int>(5));
  EXPECT_EQ(f.get(), 12);
}

TEST_P(Executor, MapTakesEveryKindOfRange) {
  const std::vector<int> three{1, 2, 3};
  EXPECT_THAT(collect(ex.map(twice, three)), ElementsAre(2, 4, 6));
  EXPECT_THAT(collect(ex.map(twice, std::vector{4, 5})), ElementsAre(8, 10));
  EXPECT_THAT(collect(ex.map(twice, std::list{1, 2})), ElementsAre(2, 4));
  EXPECT_THAT(collect(ex.map(twice, std::forward_list{1})), ElementsAre(2));
  EXPECT_THAT(collect(ex.map(twice, std::span(three).first(2))), ElementsAre(2, 4));
  EXPECT_THAT(collect(ex.map(twice, std::views::iota(0, 3))), ElementsAre(0, 2, 4));
  EXPECT_THAT(collect(ex.map(twice, three | std::views::reverse)), ElementsAre(6, 4, 2));
  std::istringstream text("10 20 30");
  EXPECT_THAT(collect(ex.map(twice, std::ranges::istream_view<int>(text))),
              ElementsAre(20, 40, 60));
  EXPECT_THAT(collect(ex.map(twice, std::vector<int>{})), ElementsAre());
}

TEST_P(Executor, MapTakesSeveralRangesAndEndsWithTheShortest) {
  const std::vector<int> a{1, 2, 3};
  const std::array<int, 2> b{10, 20};
  const auto add = [](int x, int y, int z) { return x + y + z; };
  EXPECT_THAT(collect(ex.map(std::plus<>{}, a, b)), ElementsAre(11, 22));
  EXPECT_THAT(collect(ex.map(std::plus<>{}, a, b, {.look_ahead = 1})), ElementsAre(11, 22));
  EXPECT_THAT(collect(ex.map({}, add, a, b, a)), ElementsAre(12, 24));
  EXPECT_THAT(collect(ex.map({.chunk = 2}, add, a, a, a)), ElementsAre(3, 6, 9));
}

TEST_P(Executor, MapPassesElementsByReferenceAsALoopDoes) {
  std::vector<std::unique_ptr<int>> v;
  for (int i = 0; i < 100; ++i) v.push_back(std::make_unique<int>(i));
  for (auto&& nothing : ex.map([](std::unique_ptr<int>& p) { ++*p; }, v)) {
    static_assert(std::is_same_v<decltype(nothing), std::monostate&&>);
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(*v[static_cast<std::size_t>(i)], i + 1);
}

TEST_P(Executor, MapGivesReferencesWhereTheFunctionDoes) {
  std::vector<int> v{1, 2, 3};
  for (int& x : ex.map([](int& i) -> int& { return i; }, v)) x *= 10;
  EXPECT_THAT(v, ElementsAre(10, 20, 30));
}

TEST_P(Executor, MapHandsOverResultsThatCanOnlyBeMoved) {
  std::vector<std::unique_ptr<int>> kept;
  for (auto p : ex.map([](int i) { return std::make_unique<int>(i); }, std::views::iota(0, 50))) {
    kept.push_back(std::move(p));
  }
  ASSERT_EQ(kept.size(), 50U);
  EXPECT_EQ(*kept[49], 49);
}

// Neither copied nor moved on its way to the consumer.
struct unmovable {
  explicit unmovable(int i) : value(i) {}
  unmovable(const unmovable&) = delete;
  int value;
};
TEST_P(Executor, MapGivesResultsThatCannotBeMoved) {
  int next = 0;
  for (auto&& r : ex.map([](int i) { return unmovable(i); }, std::views::iota(0, 20))) {
    EXPECT_EQ(r.value, next++);
  }
  EXPECT_EQ(next, 20);
}

struct record {
  std::string name;
};
TEST_P(Executor, ResultsMayReferToItemsThatTheRangeMakesUp) {
  const auto records = std::views::iota(0, 60) | std::views::transform([](int i) {
                         return record{"the record with the number " + std::to_string(i)};
                       });
  int next = 0;
  for (const std::string& name :
       ex.map([](const record& r) -> const std::string& { return r.name; }, records)) {
    EXPECT_EQ(name, "the record with the number " + std::to_string(next++));
  }
  for (const std::string_view name :
       ex.map([](const record& r) { return std::string_view(r.name); }, records)) {
    EXPECT_TRUE(name.starts_with("the record"));
  }
  EXPECT_EQ(next, 60);
}

// Calls itself forward, and shows an element that lives inside it, as the iterators of <regex> do.
class counting_iterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using difference_type = std::ptrdiff_t;
  using value_type = std::string;
  using reference = const std::string&;
  using pointer = const std::string*;

  counting_iterator() = default;
  explicit counting_iterator(int i) : number_(i), shown_(std::to_string(i)) {}
  reference operator*() const { return shown_; }
  counting_iterator& operator++() { return *this = counting_iterator(number_ + 1); }
  counting_iterator operator++(int) {
    counting_iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const counting_iterator& a, const counting_iterator& b) {
    return a.number_ == b.number_;
  }

 private:
  int number_ = 0;
  std::string shown_;
};
static_assert(std::forward_iterator<counting_iterator>);

TEST_P(Executor, MapCopiesWhatLivesInsideItsIterator) {
  const std::ranges::subrange numbers(counting_iterator(0), counting_iterator(50));
  int next = 0;
  for (auto&& r : ex.map([](const std::string& shown) { return shown; }, numbers)) {
    EXPECT_EQ(r, std::to_string(next++));
  }
  EXPECT_EQ(next, 50);
}

TEST_P(Executor, TheFunctionIsCalledAsInTheLoop) {
  // An item is an lvalue there, also one that the range makes up, and there is no token before it.
  EXPECT_THAT(collect(ex.map([](auto& x) { return x; }, std::views::iota(0, 3))),
              ElementsAre(0, 1, 2));
  const auto count = [](auto... x) { return sizeof...(x); };
  EXPECT_THAT(collect(ex.map(count, std::views::iota(0, 2), std::views::iota(0, 2))),
              ElementsAre(2, 2));
  // What can only be moved is moved.
  const auto pointers = std::views::iota(0, 3) |
                        std::views::transform([](int i) { return std::make_unique<int>(i); });
  EXPECT_THAT(collect(ex.map([](std::unique_ptr<int> p) { return *p; }, pointers)),
              ElementsAre(0, 1, 2));
  std::vector<bool> bits{true, false, true};
  EXPECT_THAT(collect(ex.map([](bool b) { return !b; }, bits)), ElementsAre(false, true, false));
}

TEST_P(Executor, AHugeChunkIsAsLargeAsItsItems) {
  const auto all = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(
      collect(ex.map(twice, std::views::iota(0, 10), {.chunk = all, .look_ahead = all})).size(),
      10U);
}

TEST_P(Executor, AMapIsAViewAndComposes) {
  static_assert(std::ranges::input_range<decltype(ex.map(twice, std::vector<int>{}))>);
  static_assert(std::ranges::view<decltype(ex.map(twice, std::vector<int>{}))>);
  auto odd = ex.map(twice, std::views::iota(0, 10)) |
             std::views::filter([](int x) { return x % 4 != 0; }) | std::views::take(3);
  std::vector<int> seen;
  for (const int x : odd) seen.push_back(x);
  EXPECT_THAT(seen, ElementsAre(2, 6, 10));
}

TEST_P(Executor, NothingHappensBeforeBegin) {
  int calls = 0;
  {
    auto map = ex.map(
        [&](int i) {
          ++calls;
          return i;
        },
        std::views::iota(0, 3) | std::views::transform([&](int i) {
          ++calls;
          return i;
        }));
    static_cast<void>(map);
  }
  EXPECT_EQ(calls, 0);
}

TEST_P(Executor, ASecondBeginIsAnError) {
  auto map = ex.map(twice, std::views::iota(0, 3));
  for (auto&& r : map) static_cast<void>(r);
  EXPECT_THROW(map.begin(), std::logic_error);
}

TEST_P(Executor, TheInputIsReadInTheConsumersThread) {
  const auto me = std::this_thread::get_id();
  bool elsewhere = false;
  auto input = std::views::iota(0, 200) | std::views::transform([&](int i) {
                 elsewhere = elsewhere || std::this_thread::get_id() != me;
                 return i;
               });
  EXPECT_EQ(collect(ex.map(twice, input)).size(), 200U);
  EXPECT_FALSE(elsewhere);
}

TEST_P(Executor, MapUnorderedGivesEveryResultOnce) {
  auto all = collect(ex.map_unordered(twice, std::views::iota(0, 500)));
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), 500U);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], 2 * i);
}

TEST_P(Executor, MapTellsTheFunctionToStopWhenTheConsumerLeaves) {
  // The second item would wait for ever if it were not told.
  const auto f = [](const std::stop_token& stop, int i) {
    while (i != 0 && !stop.stop_requested()) std::this_thread::yield();
    return i;
  };
  for (auto&& r : ex.map(f, std::views::iota(0, 8))) {
    EXPECT_EQ(r, 0);
    break;
  }
}

TEST(ExecutorInTheCaller, MaxWorkersOneUsesNoOtherThread) {
  weft::executor ex({.max_workers = 1});
  const auto me = std::this_thread::get_id();
  EXPECT_EQ(ex.submit([] { return std::this_thread::get_id(); }).get(), me);
  std::vector<int> order;
  const auto f = [&](int i) {
    order.push_back(i);
    return std::this_thread::get_id();
  };
  for (auto&& id : ex.map(f, std::views::iota(0, 3))) {
    EXPECT_EQ(id, me);
    order.push_back(-1);
  }
  // One item, one result, and so on: the loop itself.
  EXPECT_THAT(order, ElementsAre(0, -1, 1, -1, 2, -1));
  EXPECT_EQ(ex.current_workers(), 1U);
}

TEST(Executor_, ExplainsItselfAndKnowsItsBounds) {
  weft::executor ex({.max_workers = 6, .min_workers = 2, .name = "loader"});
  EXPECT_EQ(ex.max_workers(), 6U);
  EXPECT_EQ(ex.min_workers(), 2U);
  EXPECT_GE(ex.current_workers(), 2U);
  EXPECT_LE(ex.current_workers(), 6U);
  EXPECT_THAT(ex.explain(), testing::StartsWith("loader: "));
}

TEST(Executor_, DefaultIsReadyForWorkThatWaits) {
  weft::executor ex;
  EXPECT_GE(ex.max_workers(), 32U);
  EXPECT_EQ(ex.submit(twice, 2).get(), 4);
}

TEST(WaitForSeveral, FirstCompletedReturnsWithTheOneThatIsDone) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = weft::sizing_policy::fixed});
  std::latch release(1);
  std::vector<weft::future<int>> futures;
  futures.push_back(ex.submit([&] {
    release.wait();
    return 1;
  }));
  futures.push_back(ex.submit(twice, 1));
  const auto first = weft::wait(futures, weft::return_when::first_completed);
  EXPECT_THAT(first.done, ElementsAre(1));
  EXPECT_THAT(first.not_done, ElementsAre(0));
  release.count_down();
  EXPECT_THAT(weft::wait(futures).done, ElementsAre(0, 1));
  EXPECT_EQ(futures[0].get(), 1);
  EXPECT_EQ(futures[1].get(), 2);
}

TEST(WaitForSeveral, FirstExceptionReturnsWithTheFailure) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2,
                     .sizing = weft::sizing_policy::fixed,
                     .on_error = weft::on_error::keep_going});
  std::latch release(1);
  std::vector<weft::future<void>> futures;
  futures.push_back(ex.submit([&] { release.wait(); }));
  futures.push_back(ex.submit([] {}));
  futures.push_back(ex.submit([] { throw std::runtime_error("no"); }));
  const auto seen = weft::wait(futures, weft::return_when::first_exception);
  EXPECT_THAT(seen.not_done, testing::Contains(0));
  EXPECT_THAT(seen.done, testing::Contains(2));
  release.count_down();
  EXPECT_EQ(weft::wait(futures, weft::return_when::all).done.size(), 3U);
}

TEST(WaitForSeveral, ATimeoutTellsWhatIsDone) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = weft::sizing_policy::fixed});
  std::latch release(1);
  std::vector<weft::future<void>> futures;
  futures.push_back(ex.submit([&] { release.wait(); }));
  EXPECT_THAT(weft::wait(futures, weft::return_when::all, 0s).not_done, ElementsAre(0));
  release.count_down();
  futures[0].get();
  std::vector<weft::future<void>> none;
  EXPECT_TRUE(weft::wait(none).done.empty());
}

TEST(AsCompleted, GivesFuturesAsTheyBecomeReady) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 3, .sizing = weft::sizing_policy::fixed});
  std::latch second(1);
  std::latch first(1);
  std::vector<weft::future<int>> futures;
  futures.push_back(ex.submit([&] {
    first.wait();
    return 1;
  }));
  futures.push_back(ex.submit([&] {
    second.wait();
    return 2;
  }));
  futures.push_back(ex.submit([] { return 3; }));
  std::vector<int> order;
  for (auto f : weft::as_completed(std::move(futures))) {
    order.push_back(f.get());
    if (order.size() == 1) second.count_down();
    if (order.size() == 2) first.count_down();
  }
  EXPECT_THAT(order, ElementsAre(3, 2, 1));
}

TEST(AsCompleted, TimesOutAndLetsGoOfTheRest) {
  const weft::test::watchdog guard(60s);
  std::latch release(1);  // before the executor, which waits for the task that uses it
  weft::executor ex({.max_workers = 2, .sizing = weft::sizing_policy::fixed});
  std::vector<weft::future<void>> futures;
  futures.push_back(ex.submit([&] { release.wait(); }));
  const auto all = [&] {
    for (auto f : weft::as_completed(std::move(futures), 1ms)) f.get();
  };
  EXPECT_THROW(all(), weft::timed_out);
  release.count_down();
}

TEST(AsCompleted, IsReadOnce) {
  weft::executor ex({.max_workers = 1});
  std::vector<weft::future<int>> futures;
  futures.push_back(ex.submit(twice, 1));
  auto ready = weft::as_completed(std::move(futures));
  EXPECT_EQ((*ready.begin()).get(), 2);
  EXPECT_THROW(ready.begin(), std::logic_error);
}

// As future::get does: at the nesting limit a worker does itself what it waits for.
TEST(WaitForSeveral, WorksAtAnyDepth) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = weft::sizing_policy::fixed});
  const std::function<int(int, bool)> down = [&](int depth, bool wait) -> int {
    if (depth == 0) return 0;
    std::vector<weft::future<int>> next;
    next.push_back(ex.submit(down, depth - 1, wait));
    if (wait) {
      static_cast<void>(weft::wait(next));
      return 1 + next.front().get();
    }
    for (auto f : weft::as_completed(std::move(next))) return 1 + f.get();
    return -1;
  };
  EXPECT_EQ(ex.submit(down, 300, true).get(), 300);
  EXPECT_EQ(ex.submit(down, 300, false).get(), 300);
}

TEST(AsCompleted, DrivesAPoolWithoutThreads) {
  weft::pool pool({.workers = 3, .deterministic_seed = 5});
  weft::executor ex(pool);
  std::vector<weft::future<int>> futures;
  for (int i = 0; i < 20; ++i) futures.push_back(ex.submit(twice, i));
  int sum = 0;
  for (auto f : weft::as_completed(std::move(futures))) sum += f.get();
  EXPECT_EQ(sum, 380);
}

}  // namespace
