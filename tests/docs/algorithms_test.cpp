// The code of docs/guide/algorithms.md: what people have today, and the same with Weft. The page
// shows the marked regions (tools/doc_examples); each test runs all versions of one task.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <execution>
#include <functional>
#include <iterator>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <weft/core/errors.hpp>
#include <weft/core/parallel/find.hpp>
#include <weft/core/parallel/for.hpp>
#include <weft/core/parallel/invoke.hpp>
#include <weft/core/parallel/reduce.hpp>
#include <weft/core/parallel/scan.hpp>
#include <weft/core/parallel/sort.hpp>
#include <weft/core/parallel/stable_sort.hpp>
#include <weft/core/parallel/transform.hpp>
#include <weft/core/pool.hpp>

namespace {

// The global pool of this program has two workers on every machine.
const int two_workers = ::setenv("WEFT_WORKERS", "2", 1);

using numbers = std::vector<double>;

constexpr std::size_t many = 100'000;

// Multiples of a quarter: sums of some are exact in any order.
numbers some_numbers(std::size_t n = many) {
  numbers x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i * 7919 % 1000) / 4;
  return x;
}

double f(double x) { return x * x + 1; }

// loop -------------------------------------------------------------------------------------------

numbers loop_openmp(const numbers& x) {
  const std::size_t n = x.size();
  numbers y(n);
  // [loop-openmp]
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) y[i] = f(x[i]);
  // [/loop-openmp]
  return y;
}

numbers loop_tbb(const numbers& x) {
  const std::size_t n = x.size();
  numbers y(n);
  // [loop-tbb]
  tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) { y[i] = f(x[i]); });
  // [/loop-tbb]
  return y;
}

numbers loop_weft(const numbers& x) {
  const std::size_t n = x.size();
  numbers y(n);
  // [loop-weft]
  weft::parallel_for(0, n, [&](std::size_t i) { y[i] = f(x[i]); });
  // [/loop-weft]
  return y;
}

TEST(AlgorithmsGuide, Loop) {
  const numbers x = some_numbers();
  const numbers expected = loop_openmp(x);
  EXPECT_EQ(expected.back(), f(x.back()));
  EXPECT_EQ(loop_tbb(x), expected);
  EXPECT_EQ(loop_weft(x), expected);
}

// blocks -----------------------------------------------------------------------------------------

// A function that wants whole blocks: a kernel written for SIMD, say.
void kernel(const double* first, const double* last, double* out) {
  for (; first != last; ++first, ++out) *out = f(*first);
}

numbers blocks_tbb(const numbers& x) {
  const std::size_t n = x.size();
  numbers y(n);
  // [blocks-tbb]
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n), [&](const auto& block) {
    kernel(&x[block.begin()], x.data() + block.end(), &y[block.begin()]);
  });
  // [/blocks-tbb]
  return y;
}

numbers blocks_weft(const numbers& x) {
  const std::size_t n = x.size();
  numbers y(n);
  // [blocks-weft]
  weft::parallel_for(0, n, [&](std::size_t first, std::size_t last) {
    kernel(&x[first], x.data() + last, &y[first]);
  });
  // [/blocks-weft]
  return y;
}

TEST(AlgorithmsGuide, LoopOverBlocks) {
  const numbers x = some_numbers();
  EXPECT_EQ(blocks_tbb(x), loop_openmp(x));
  EXPECT_EQ(blocks_weft(x), loop_openmp(x));
}

// for each ---------------------------------------------------------------------------------------

struct particle {
  double at, speed;
  void move(double dt) { at += speed * dt; }
  bool operator==(const particle&) const = default;
};

std::vector<particle> for_each_std(std::vector<particle> particles, double dt) {
  // [for-each-std]
  std::for_each(std::execution::par, particles.begin(), particles.end(),
                [&](particle& p) { p.move(dt); });
  // [/for-each-std]
  return particles;
}

std::vector<particle> for_each_tbb(std::vector<particle> particles, double dt) {
  // [for-each-tbb]
  tbb::parallel_for_each(particles, [&](particle& p) { p.move(dt); });
  // [/for-each-tbb]
  return particles;
}

std::vector<particle> for_each_weft(std::vector<particle> particles, double dt) {
  // [for-each-weft]
  weft::parallel_for_each(particles, [&](particle& p) { p.move(dt); });
  // [/for-each-weft]
  return particles;
}

TEST(AlgorithmsGuide, ForEach) {
  std::vector<particle> particles;
  for (const double x : some_numbers()) particles.push_back({.at = x, .speed = 100 - x});
  const auto expected = for_each_std(particles, 0.5);
  EXPECT_NE(expected, particles);
  EXPECT_EQ(for_each_tbb(particles, 0.5), expected);
  EXPECT_EQ(for_each_weft(particles, 0.5), expected);
}

// transform --------------------------------------------------------------------------------------

std::vector<std::string> some_words() {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < 20'000; ++i) {
    words.emplace_back(i * 7919 % 13 + 1, static_cast<char>('a' + i % 26));
  }
  return words;
}

std::vector<std::size_t> transform_std(const std::vector<std::string>& words) {
  std::vector<std::size_t> lengths(words.size());
  // [transform-std]
  std::transform(std::execution::par, words.begin(), words.end(), lengths.begin(),
                 [](const std::string& word) { return word.size(); });
  // [/transform-std]
  return lengths;
}

std::vector<std::size_t> transform_weft(const std::vector<std::string>& words) {
  std::vector<std::size_t> lengths(words.size());
  // [transform-weft]
  weft::parallel_transform(words, lengths.begin(),
                           [](const std::string& word) { return word.size(); });
  // [/transform-weft]
  return lengths;
}

TEST(AlgorithmsGuide, Transform) {
  EXPECT_EQ(transform_weft(some_words()), transform_std(some_words()));
}

// reduce -----------------------------------------------------------------------------------------

struct item {
  std::string name;
  long cost;
  bool operator==(const item&) const = default;
};

std::vector<item> some_items() {
  std::vector<item> items;
  for (std::size_t i = 0; i < 20'000; ++i) {
    items.push_back({"item " + std::to_string(i), static_cast<long>(i * 7919 % 1000)});
  }
  return items;
}

long reduce_std(const std::vector<item>& items) {
  // [reduce-std]
  const long total = std::transform_reduce(std::execution::par, items.begin(), items.end(), 0L,
                                           std::plus<>{}, [](const item& x) { return x.cost; });
  // [/reduce-std]
  return total;
}

long reduce_openmp(const std::vector<item>& items) {
  // [reduce-openmp]
  long total = 0;
#pragma omp parallel for reduction(+ : total)
  for (std::size_t i = 0; i < items.size(); ++i) total += items[i].cost;
  // [/reduce-openmp]
  return total;
}

long reduce_tbb(const std::vector<item>& items) {
  // [reduce-tbb]
  const long total = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, items.size()), 0L,
      [&](const auto& block, long sum) {
        for (std::size_t i = block.begin(); i != block.end(); ++i) sum += items[i].cost;
        return sum;
      },
      std::plus<>{});
  // [/reduce-tbb]
  return total;
}

long reduce_weft(const std::vector<item>& items) {
  // [reduce-weft]
  const long total = weft::parallel_reduce(items, 0L, std::plus<>{}, &item::cost);
  // [/reduce-weft]
  return total;
}

TEST(AlgorithmsGuide, Reduce) {
  const auto items = some_items();
  const long expected = reduce_std(items);
  EXPECT_EQ(expected, 20L * 999 * 1000 / 2);
  EXPECT_EQ(reduce_openmp(items), expected);
  EXPECT_EQ(reduce_tbb(items), expected);
  EXPECT_EQ(reduce_weft(items), expected);
}

// reproducible sum -------------------------------------------------------------------------------

double sum_tbb(const numbers& x) {
  // [sum-tbb]
  const double sum = tbb::parallel_deterministic_reduce(
      tbb::blocked_range<std::size_t>(0, x.size(), 1000), 0.0,
      [&](const auto& block, double so_far) {
        for (std::size_t i = block.begin(); i != block.end(); ++i) so_far += x[i];
        return so_far;
      },
      std::plus<>{});
  // [/sum-tbb]
  return sum;
}

double sum_weft(const numbers& x) {
  // [sum-weft]
  const double sum = weft::parallel_reduce(x, 0.0, std::plus<>{}, {}, {.reproducible = true});
  // [/sum-weft]
  return sum;
}

TEST(AlgorithmsGuide, ReproducibleSum) {
  numbers x(many);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e6 / static_cast<double>(i + 1);
  const double from_tbb = sum_tbb(x);
  const double from_weft = sum_weft(x);
  EXPECT_NEAR(from_weft, from_tbb, 1e-9 * from_tbb);  // each groups in its own way
  for (const unsigned threads : {1U, 2U, 4U}) {
    tbb::task_arena arena(static_cast<int>(threads));
    EXPECT_EQ(arena.execute([&] { return sum_tbb(x); }), from_tbb);
    weft::pool pool({.workers = threads});
    EXPECT_EQ(pool.run([&] { return sum_weft(x); }), from_weft);
  }
}

// scan -------------------------------------------------------------------------------------------

using totals = std::pair<std::vector<long>, std::vector<long>>;

totals scan_std(const std::vector<int>& in) {
  std::vector<long> up_to(in.size());
  std::vector<long> before(in.size());
  // [scan-std]
  std::inclusive_scan(std::execution::par, in.begin(), in.end(), up_to.begin(), std::plus<>{}, 0L);
  std::exclusive_scan(std::execution::par, in.begin(), in.end(), before.begin(), 0L, std::plus<>{});
  // [/scan-std]
  return {up_to, before};
}

totals scan_openmp(const std::vector<int>& in) {
  std::vector<long> up_to(in.size());
  std::vector<long> before(in.size());
  // [scan-openmp]
  long total = 0;
#pragma omp parallel for reduction(inscan, + : total)
  for (std::size_t i = 0; i < in.size(); ++i) {
    total += in[i];
#pragma omp scan inclusive(total)
    up_to[i] = total;
  }
  // [/scan-openmp]
  for (std::size_t i = 0; i < in.size(); ++i) before[i] = up_to[i] - in[i];
  return {up_to, before};
}

totals scan_weft(const std::vector<int>& in) {
  std::vector<long> up_to(in.size());
  std::vector<long> before(in.size());
  // [scan-weft]
  weft::parallel_inclusive_scan(in, up_to, 0L);
  weft::parallel_exclusive_scan(in, before, 0L, std::plus<>{});
  // [/scan-weft]
  return {up_to, before};
}

TEST(AlgorithmsGuide, Scan) {
  std::vector<int> in(many);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i % 17) - 5;
  const totals expected = scan_std(in);
  EXPECT_EQ(expected.first.back(), std::accumulate(in.begin(), in.end(), 0L));
  EXPECT_EQ(scan_openmp(in), expected);
  EXPECT_EQ(scan_weft(in), expected);
}

// find -------------------------------------------------------------------------------------------

std::ptrdiff_t find_std(const std::vector<item>& items, long limit) {
  // [find-std]
  const auto found = std::find_if(std::execution::par, items.begin(), items.end(),
                                  [&](const item& x) { return x.cost > limit; });
  // [/find-std]
  return found - items.begin();
}

std::ptrdiff_t find_weft(const std::vector<item>& items, long limit) {
  // [find-weft]
  const auto found =
      weft::parallel_find_if(items, [&](long cost) { return cost > limit; }, &item::cost);
  // [/find-weft]
  return found - items.begin();
}

TEST(AlgorithmsGuide, FindFirst) {
  auto items = some_items();
  items[12'345].cost = 5000;
  items[17'000].cost = 5000;
  EXPECT_EQ(find_std(items, 4000), 12'345);
  EXPECT_EQ(find_weft(items, 4000), 12'345);
  EXPECT_EQ(find_weft(items, 9000), find_std(items, 9000));
}

// any, all ---------------------------------------------------------------------------------------

std::pair<bool, bool> any_all_std(const numbers& x) {
  // [any-std]
  const bool any =
      std::any_of(std::execution::par, x.begin(), x.end(), [](double value) { return value < 0; });
  const bool all = std::all_of(std::execution::par, x.begin(), x.end(),
                               [](double value) { return value < 1000; });
  // [/any-std]
  return {any, all};
}

std::pair<bool, bool> any_all_openmp(const numbers& x) {
  const std::size_t n = x.size();
  // [any-openmp]
  bool any = false;
  bool all = true;
#pragma omp parallel for reduction(|| : any) reduction(&& : all)
  for (std::size_t i = 0; i < n; ++i) {
    any = any || x[i] < 0;
    all = all && x[i] < 1000;
  }
  // [/any-openmp]
  return {any, all};
}

std::pair<bool, bool> any_all_weft(const numbers& x) {
  // [any-weft]
  const bool any = weft::parallel_any_of(x, [](double value) { return value < 0; });
  const bool all = weft::parallel_all_of(x, [](double value) { return value < 1000; });
  // [/any-weft]
  return {any, all};
}

TEST(AlgorithmsGuide, AnyAndAll) {
  numbers x = some_numbers();
  for (const auto& version : {any_all_std, any_all_openmp, any_all_weft}) {
    EXPECT_EQ(version(x), std::pair(false, true));
    x[many / 2] = -1;
    EXPECT_EQ(version(x), std::pair(true, true));
    x[many / 2] = 2000;
    EXPECT_EQ(version(x), std::pair(false, false));
    x[many / 2] = 0;
  }
}

// sort -------------------------------------------------------------------------------------------

std::vector<item> sort_std(std::vector<item> items) {
  // [sort-std]
  std::sort(std::execution::par, items.begin(), items.end(),
            [](const item& a, const item& b) { return a.name < b.name; });
  // [/sort-std]
  return items;
}

std::vector<item> sort_tbb(std::vector<item> items) {
  // [sort-tbb]
  tbb::parallel_sort(items, [](const item& a, const item& b) { return a.name < b.name; });
  // [/sort-tbb]
  return items;
}

std::vector<item> sort_weft(std::vector<item> items) {
  // [sort-weft]
  weft::parallel_sort(items, {}, &item::name);
  // [/sort-weft]
  return items;
}

TEST(AlgorithmsGuide, Sort) {
  const auto expected = sort_std(some_items());
  EXPECT_TRUE(std::ranges::is_sorted(expected, {}, &item::name));
  EXPECT_EQ(sort_tbb(some_items()), expected);
  EXPECT_EQ(sort_weft(some_items()), expected);
}

std::vector<item> stable_sort_std(std::vector<item> items) {
  // [stable-sort-std]
  std::stable_sort(std::execution::par, items.begin(), items.end(),
                   [](const item& a, const item& b) { return a.cost > b.cost; });
  // [/stable-sort-std]
  return items;
}

std::vector<item> stable_sort_weft(std::vector<item> items) {
  // [stable-sort-weft]
  weft::parallel_stable_sort(items, std::greater<>{}, &item::cost);
  // [/stable-sort-weft]
  return items;
}

TEST(AlgorithmsGuide, StableSort) {
  EXPECT_EQ(stable_sort_weft(some_items()), stable_sort_std(some_items()));
}

// invoke -----------------------------------------------------------------------------------------

struct summary {
  long cost = 0;
  double total = 0;
  std::size_t longest = 0;
  bool operator==(const summary&) const = default;
};

long total_cost(const std::vector<item>& items) {
  return std::transform_reduce(items.begin(), items.end(), 0L, std::plus<>{},
                               std::mem_fn(&item::cost));
}
double total_of(const numbers& x) { return std::accumulate(x.begin(), x.end(), 0.0); }
std::size_t longest_of(const std::vector<std::string>& words) {
  return std::ranges::max(words, {}, &std::string::size).size();
}

summary invoke_openmp(const std::vector<item>& items, const numbers& x,
                      const std::vector<std::string>& words) {
  // [invoke-openmp]
  long cost = 0;
  double total = 0;
  std::size_t longest = 0;
#pragma omp parallel sections
  {
#pragma omp section
    cost = total_cost(items);
#pragma omp section
    total = total_of(x);
#pragma omp section
    longest = longest_of(words);
  }
  // [/invoke-openmp]
  return {cost, total, longest};
}

summary invoke_tbb(const std::vector<item>& items, const numbers& x,
                   const std::vector<std::string>& words) {
  // [invoke-tbb]
  long cost = 0;
  double total = 0;
  std::size_t longest = 0;
  tbb::parallel_invoke([&] { cost = total_cost(items); }, [&] { total = total_of(x); },
                       [&] { longest = longest_of(words); });
  // [/invoke-tbb]
  return {cost, total, longest};
}

summary invoke_weft(const std::vector<item>& items, const numbers& x,
                    const std::vector<std::string>& words) {
  // [invoke-weft]
  const auto [cost, total, longest] =
      weft::parallel_invoke([&] { return total_cost(items); }, [&] { return total_of(x); },
                            [&] { return longest_of(words); });
  // [/invoke-weft]
  return {cost, total, longest};
}

TEST(AlgorithmsGuide, Invoke) {
  const auto items = some_items();
  const auto x = some_numbers();
  const auto words = some_words();
  const summary expected = invoke_tbb(items, x, words);
  EXPECT_EQ(expected.longest, 13U);
  EXPECT_EQ(invoke_openmp(items, x, words), expected);
  EXPECT_EQ(invoke_weft(items, x, words), expected);
}

// a pool of its own ------------------------------------------------------------------------------

// A body that remembers which threads ran it.
class threads_seen {
 public:
  double operator()(double x) {
    const std::lock_guard lock(mutex_);
    threads_.insert(std::this_thread::get_id());
    return f(x);
  }
  std::size_t count() const { return threads_.size(); }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> threads_;
};

numbers pool_openmp(const numbers& x, threads_seen& f) {
  const std::size_t n = x.size();
  numbers y(n);
  // [pool-openmp]
#pragma omp parallel for num_threads(2)
  for (std::size_t i = 0; i < n; ++i) y[i] = f(x[i]);
  // [/pool-openmp]
  return y;
}

numbers pool_tbb(const numbers& x, threads_seen& f) {
  const std::size_t n = x.size();
  numbers y(n);
  // [pool-tbb]
  tbb::task_arena two(2);
  two.execute(
      [&] { tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) { y[i] = f(x[i]); }); });
  // [/pool-tbb]
  return y;
}

numbers pool_weft(const numbers& x, threads_seen& f) {
  const std::size_t n = x.size();
  numbers y(n);
  // [pool-weft]
  weft::pool two({.workers = 2});
  two.run([&] { weft::parallel_for(0, n, [&](std::size_t i) { y[i] = f(x[i]); }); });
  // [/pool-weft]
  return y;
}

TEST(AlgorithmsGuide, NumberOfThreads) {
  const numbers x = some_numbers();
  const numbers expected = loop_openmp(x);
  for (const auto& version : {pool_openmp, pool_tbb, pool_weft}) {
    threads_seen seen;
    EXPECT_EQ(version(x, seen), expected);
    EXPECT_GE(seen.count(), 1U);
  }
  // Two at a time. Which threads those are may change within one loop, in oneTBB and in Weft.
  threads_seen seen;
  pool_openmp(x, seen);
  EXPECT_EQ(seen.count(), 2U);
}

// early stop -------------------------------------------------------------------------------------

using outcome = std::pair<bool, std::size_t>;  // complete, iterations

template <class F>
outcome stop_openmp(std::size_t n, const std::stop_token& stop, F work) {
  std::atomic<std::size_t> ran{0};
  const auto body = [&](std::size_t i) { work(i), ++ran; };
  // [stop-openmp]
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) {
    if (!stop.stop_requested()) body(i);
  }
  const bool complete = !stop.stop_requested();
  // [/stop-openmp]
  return {complete, ran};
}

template <class F>
outcome stop_tbb(std::size_t n, const std::stop_token& stop, F work) {
  std::atomic<std::size_t> ran{0};
  const auto body = [&](std::size_t i) { work(i), ++ran; };
  // [stop-tbb]
  tbb::task_group_context context;
  const std::stop_callback on_stop(stop, [&] { context.cancel_group_execution(); });
  tbb::parallel_for(std::size_t{0}, n, body, context);
  const bool complete = !context.is_group_execution_cancelled();
  // [/stop-tbb]
  return {complete, ran};
}

template <class F>
outcome stop_weft(std::size_t n, const std::stop_token& stop, F work) {
  std::atomic<std::size_t> ran{0};
  const auto body = [&](std::size_t i) { work(i), ++ran; };
  // [stop-weft]
  bool complete = true;
  try {
    weft::parallel_for(0, n, body, {.stop = stop});
  } catch (const weft::cancelled&) {
    complete = false;
  }
  // [/stop-weft]
  return {complete, ran};
}

TEST(AlgorithmsGuide, EarlyStop) {
  const auto expect_stops = [](auto version) {
    constexpr std::size_t n = 10'000'000;
    {
      std::stop_source never;
      EXPECT_EQ(version(many, never.get_token(), [](std::size_t) {}), outcome(true, many));
    }
    {
      std::stop_source before;
      before.request_stop();
      EXPECT_EQ(version(n, before.get_token(), [](std::size_t) {}), outcome(false, 0));
    }
    {
      std::stop_source meanwhile;
      const auto [complete, ran] =
          version(n, meanwhile.get_token(), [&](std::size_t) { meanwhile.request_stop(); });
      EXPECT_FALSE(complete);
      EXPECT_GE(ran, 1U);
      EXPECT_LT(ran, n);
    }
  };
  expect_stops([](auto... args) { return stop_openmp(args...); });
  expect_stops([](auto... args) { return stop_tbb(args...); });
  expect_stops([](auto... args) { return stop_weft(args...); });
}

// exceptions -------------------------------------------------------------------------------------

void check(double x) {
  if (x < 0) throw std::runtime_error(std::to_string(x));
}

std::string exception_openmp(const numbers& x) {
  const std::size_t n = x.size();
  std::string message;
  const auto report = [&](const std::exception& e) { message = e.what(); };
  // [exception-openmp]
  std::exception_ptr error;
  std::size_t where = n;
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) {
    try {
      check(x[i]);
    } catch (...) {
#pragma omp critical
      if (i < where) {
        where = i;
        error = std::current_exception();
      }
    }
  }
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::exception& e) {
    report(e);  // the lowest i
  }
  // [/exception-openmp]
  return message;
}

std::string exception_tbb(const numbers& x) {
  const std::size_t n = x.size();
  std::string message;
  const auto report = [&](const std::exception& e) { message = e.what(); };
  // [exception-tbb]
  try {
    tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) { check(x[i]); });
  } catch (const std::exception& e) {
    report(e);  // whichever was first in time
  }
  // [/exception-tbb]
  return message;
}

std::string exception_weft(const numbers& x) {
  const std::size_t n = x.size();
  std::string message;
  const auto report = [&](const std::exception& e) { message = e.what(); };
  // [exception-weft]
  try {
    weft::parallel_for(0, n, [&](std::size_t i) { check(x[i]); });
  } catch (const std::exception& e) {
    report(e);  // the lowest i
  }
  // [/exception-weft]
  return message;
}

TEST(AlgorithmsGuide, Exceptions) {
  numbers x = some_numbers();
  EXPECT_EQ(exception_openmp(x), "");
  EXPECT_EQ(exception_tbb(x), "");
  EXPECT_EQ(exception_weft(x), "");
  std::set<std::string> possible;
  for (std::size_t i = 30'000; i < many; i += 10'000) {
    x[i] = -static_cast<double>(i);
    possible.insert(std::to_string(x[i]));
  }
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(exception_openmp(x), std::to_string(-30'000.0));
    EXPECT_TRUE(possible.contains(exception_tbb(x)));
    EXPECT_EQ(exception_weft(x), std::to_string(-30'000.0));
  }
}

// nested loops -----------------------------------------------------------------------------------

struct grid {
  std::size_t rows, columns;
  numbers cells = numbers(rows * columns);
  double& at(std::size_t row, std::size_t column) { return cells[row * columns + column]; }
};

double g(std::size_t row, std::size_t column) { return static_cast<double>(row * 1000 + column); }

numbers nested_openmp(std::size_t rows, std::size_t columns) {
  grid y{rows, columns};
  // [nested-openmp]
#pragma omp parallel for collapse(2)
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) y.at(i, j) = g(i, j);
  }
  // [/nested-openmp]
  return y.cells;
}

numbers nested_tbb(std::size_t rows, std::size_t columns) {
  grid y{rows, columns};
  // [nested-tbb]
  tbb::parallel_for(std::size_t{0}, rows, [&](std::size_t i) {
    tbb::parallel_for(std::size_t{0}, columns, [&](std::size_t j) { y.at(i, j) = g(i, j); });
  });
  // [/nested-tbb]
  return y.cells;
}

numbers nested_weft(std::size_t rows, std::size_t columns) {
  grid y{rows, columns};
  // [nested-weft]
  weft::parallel_for(0, rows, [&](std::size_t i) {
    weft::parallel_for(0, columns, [&](std::size_t j) { y.at(i, j) = g(i, j); });
  });
  // [/nested-weft]
  return y.cells;
}

TEST(AlgorithmsGuide, NestedLoops) {
  const numbers expected = nested_openmp(300, 200);
  EXPECT_EQ(expected[299 * 200 + 199], g(299, 199));
  EXPECT_EQ(nested_tbb(300, 200), expected);
  EXPECT_EQ(nested_weft(300, 200), expected);
}

// grain ------------------------------------------------------------------------------------------

numbers grain_openmp(const numbers& x) {
  const std::size_t n = x.size();
  numbers y(n);
  // [grain-openmp]
#pragma omp parallel for schedule(dynamic, 1000)
  for (std::size_t i = 0; i < n; ++i) y[i] = f(x[i]);
  // [/grain-openmp]
  return y;
}

numbers grain_tbb(const numbers& x) {
  const std::size_t n = x.size();
  numbers y(n);
  // [grain-tbb]
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, n, 1000),
      [&](const auto& block) {
        for (std::size_t i = block.begin(); i != block.end(); ++i) y[i] = f(x[i]);
      },
      tbb::simple_partitioner());
  // [/grain-tbb]
  return y;
}

numbers grain_weft(const numbers& x) {
  const std::size_t n = x.size();
  numbers y(n);
  // [grain-weft]
  weft::parallel_for(0, n, [&](std::size_t i) { y[i] = f(x[i]); }, {.grain = 1000});
  // [/grain-weft]
  return y;
}

TEST(AlgorithmsGuide, Grain) {
  const numbers x = some_numbers();
  EXPECT_EQ(grain_openmp(x), loop_openmp(x));
  EXPECT_EQ(grain_tbb(x), loop_openmp(x));
  EXPECT_EQ(grain_weft(x), loop_openmp(x));
}

}  // namespace
