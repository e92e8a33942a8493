#include <weft/core/parallel/scan.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everywhere.hpp"

namespace weft {
namespace {

const int two_workers = ::setenv("WEFT_WORKERS", "2", 1);

TEST(ParallelScan, GivesWhatTheStandardScansGive) {
  test::everywhere([] {
    std::mt19937 random(1);
    for (const std::size_t n : test::sizes) {
      for (const std::size_t grain : {0U, 1U, 5U}) {
        std::vector<int> in(n);
        std::ranges::generate(in, [&] { return static_cast<int>(random() % 1000); });
        std::vector<long> expected(n);
        std::vector<long> out(n);
        std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::plus<>{}, 7L);
        EXPECT_EQ(parallel_inclusive_scan(in, out.begin(), 7L, std::plus<>{}, {.grain = grain}),
                  out.end());
        ASSERT_EQ(out, expected) << n << " elements, grain " << grain;
        std::exclusive_scan(in.begin(), in.end(), expected.begin(), 7L);
        EXPECT_EQ(parallel_exclusive_scan(in, out, 7L, std::plus<>{}, {.grain = grain}), out.end());
        ASSERT_EQ(out, expected) << n << " elements, grain " << grain;
      }
    }
  });
}

TEST(ParallelScan, KeepsTheOrderOfAnOperationThatDoesNotCommute) {
  test::everywhere([] {
    std::vector<std::string> in(200);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::to_string(i % 10);
    std::vector<std::string> expected(in.size());
    std::vector<std::string> out(in.size());
    std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::plus<>{}, std::string(">"));
    parallel_inclusive_scan(in, out, std::string(">"), std::plus<>{}, {.grain = 1});
    EXPECT_EQ(out, expected);
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), std::string(">"));
    parallel_exclusive_scan(in, out, std::string(">"), std::plus<>{}, {.grain = 1});
    EXPECT_EQ(out, expected);
  });
}

TEST(ParallelScan, MayWriteOntoItsInput) {
  test::everywhere([] {
    for (const std::size_t grain : {0U, 1U}) {
      std::vector<int> v(3000, 1);
      parallel_inclusive_scan(v, v, 0, std::plus<>{}, {.grain = grain});
      for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], static_cast<int>(i) + 1);
      std::ranges::fill(v, 1);
      parallel_exclusive_scan(v, v.begin(), 0, std::plus<>{}, {.grain = grain});
      for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], static_cast<int>(i));
    }
  });
}

TEST(ParallelScan, OfALongInputIsRightWhenWorkersComeAndGo) {
  constexpr std::size_t n = test::under_sanitizer ? 200'000 : 5'000'000;
  std::vector<int> in(n, 1);
  std::vector<long> out(n);
  pool p({.workers = 4});
  p.run([&] { parallel_inclusive_scan(in, out, 0L); });
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], static_cast<long>(i) + 1);
}

TEST(ParallelScan, PassesOnWhatTheOperationThrows) {
  test::everywhere([] {
    std::vector<int> v(1000, 1);
    EXPECT_THROW(parallel_inclusive_scan(v, v, 0,
                                         [](int a, int b) {
                                           if (a + b > 500) throw std::overflow_error("500");
                                           return a + b;
                                         },
                                         {.grain = 1}),
                 std::overflow_error);
  });
}

TEST(ParallelScan, RefusesAnOutputThatIsTooShort) {
  std::vector<int> in(10);
  std::vector<int> out(9);
  EXPECT_THROW(parallel_inclusive_scan(in, out, 0), std::invalid_argument);
  EXPECT_THROW(parallel_exclusive_scan(in, out, 0), std::invalid_argument);
}

TEST(ParallelScan, StopsWhenAskedTo) {
  std::stop_source source;
  source.request_stop();
  std::vector<int> v(10);
  EXPECT_THROW(parallel_inclusive_scan(v, v, 0, std::plus<>{}, {.stop = source.get_token()}),
               cancelled);
}

TEST(ParallelScan, TakesIterators) {
  const std::vector<int> in{1, 2, 3};
  std::vector<int> out(3);
  EXPECT_EQ(parallel_inclusive_scan(in.begin(), in.end(), out.begin(), 10), out.end());
  EXPECT_EQ(out, (std::vector<int>{11, 13, 16}));
  parallel_exclusive_scan(in.begin(), in.end(), out.begin(), 10);
  EXPECT_EQ(out, (std::vector<int>{10, 11, 13}));
}

TEST(ParallelScan, WritesIntoAPlainArrayAndScansLargeValues) {
  const std::vector<int> in{1, 2, 3};
  int out[3];
  parallel_inclusive_scan(in, out, 0);
  EXPECT_EQ(out[2], 6);
  struct large {
    large(int v = 0) : value(v) {}  // NOLINT(google-explicit-constructor)
    int value;
    char rest[16'000] = {};
  };
  // Sixty-four such values would not fit; sanitizers need more for every frame.
  pool p({.workers = 2, .stack_size = test::under_sanitizer ? 8U << 20 : 512U << 10});
  std::vector<int> ones(200, 1);
  std::vector<large> sums(ones.size());
  p.submit([&] {
     parallel_inclusive_scan(
         ones, sums, large(),
         [](const large& a, const large& b) { return large(a.value + b.value); }, {.grain = 1});
   }).get();
  EXPECT_EQ(sums.back().value, 200);
}

}  // namespace
}  // namespace weft
