#include <weft/core/parallel/invoke.hpp>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <variant>

#include <gtest/gtest.h>

#include "everywhere.hpp"

namespace weft {
namespace {

const int two_workers = ::setenv("WEFT_WORKERS", "2", 1);

TEST(ParallelInvoke, RunsEachOnceAndReturnsAllResults) {
  test::everywhere([] {
    std::atomic<int> runs{0};
    auto [number, nothing, text, owner] = parallel_invoke(
        [&] { return ++runs, 1; }, [&] { ++runs; }, [&] { return ++runs, std::string("text"); },
        [&] { return ++runs, std::make_unique<int>(4); });
    static_assert(std::same_as<decltype(nothing), std::monostate>);
    EXPECT_EQ(runs, 4);
    EXPECT_EQ(number, 1);
    EXPECT_EQ(text, "text");
    EXPECT_EQ(*owner, 4);
  });
}

TEST(ParallelInvoke, ReturnsNothingWhenNoneDoes) {
  int runs = 0;
  static_assert(std::is_void_v<decltype(parallel_invoke([] {}, [] {}))>);
  parallel_invoke([&] { ++runs; });
  EXPECT_EQ(runs, 1);
}

TEST(ParallelInvoke, LetsAllFinishAndThrowsTheFirstInTheList) {
  test::everywhere([] {
    std::atomic<int> runs{0};
    const auto fail = [&](const char* what) {
      return [&runs, what] {
        ++runs;
        throw std::runtime_error(what);
      };
    };
    try {
      parallel_invoke([&] { ++runs; }, fail("second"), [&] { ++runs; }, fail("fourth"));
      FAIL();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "second");
    }
    EXPECT_EQ(runs, 4);
  });
}

TEST(ParallelInvoke, RefusesAnEmptyFunctionBeforeRunningAny) {
  EXPECT_THROW(parallel_invoke([] { ADD_FAILURE(); }, std::function<void()>()),
               std::invalid_argument);
}

}  // namespace
}  // namespace weft
