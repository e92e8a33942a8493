// The code of docs/guide/executor.md.

#include <gtest/gtest.h>

#include <vector>

#include <weft/exec/executor.hpp>

namespace {

TEST(ExecutorGuide, AMapAndItsLoopAreTheSame) {
  const std::vector<int> dataset{3, 1, 2};
  const auto process = [](int x) { return x * x; };
  std::vector<int> used;
  const auto use = [&](int r) { used.push_back(r); };

  // [executor-map]
  weft::executor ex;
  for (auto&& r : ex.map(process, dataset)) use(r);
  // [/executor-map]

  // [executor-loop]
  for (auto&& item : dataset) use(process(item));
  // [/executor-loop]
  EXPECT_EQ(used, (std::vector<int>{9, 1, 4, 9, 1, 4}));
}

}  // namespace
