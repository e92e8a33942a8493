#include <weft/adapt/policy/batch_size.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace {

using weft::adapt::batch_size;
using weft::adapt::explain;
using weft::adapt::sizing_reason;

unsigned workers(std::size_t rules, unsigned all = 16) { return batch_size(rules, all).workers; }

TEST(BatchSize, OneTwoFourEightOrAll) {
  EXPECT_EQ(workers(1), 1U);
  EXPECT_EQ(workers(2), 2U);
  EXPECT_EQ(workers(3), 2U);
  EXPECT_EQ(workers(4), 4U);
  EXPECT_EQ(workers(10), 4U);
  EXPECT_EQ(workers(11), 8U);
  EXPECT_EQ(workers(50), 8U);
  EXPECT_EQ(workers(51), 16U);
  EXPECT_EQ(workers(std::numeric_limits<std::size_t>::max()), 16U);
}

TEST(BatchSize, NeverMoreThanThereAreAndNeverNone) {
  EXPECT_EQ(workers(50, 6), 6U);
  EXPECT_EQ(workers(3, 1), 1U);
  EXPECT_EQ(workers(0, 4), 1U);
  EXPECT_EQ(workers(100, 0), 1U);
}

TEST(BatchSize, ExplainsItself) {
  EXPECT_EQ(batch_size(5, 8).reason, sizing_reason::batch_size);
  EXPECT_EQ(explain(batch_size(5, 8)), "8 to 4 workers: the batch has 5 rules");
}

}  // namespace
