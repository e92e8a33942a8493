#include <weft/batch/forecast.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <batch/plans.hpp>

namespace weft::batch {
namespace {

using test::light;
using test::named;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Forecast, SaysWhatEachNumberOfWorkersWouldTake) {
  plan p("p");
  for (const char* const id : {"a", "b", "c", "d"}) p.add(named(id));
  const graph shape(p);
  const forecaster expected(shape, {1, 1, 1, 1}, light(shape), {});
  EXPECT_DOUBLE_EQ(expected.on(1).makespan, 4);
  EXPECT_DOUBLE_EQ(expected.on(2).makespan, 2);
  EXPECT_DOUBLE_EQ(expected.on(3).makespan, 2);
  EXPECT_DOUBLE_EQ(expected.on(3).lower_bound, 4.0 / 3);
  EXPECT_NEAR(expected.on(3).utilisation, 100 * 2.0 / 3, 1e-9);
  EXPECT_THAT(expected.worthwhile_workers(1024), ElementsAre(1, 2, 4));
  EXPECT_THAT(expected.worthwhile_workers(3), ElementsAre(1, 2));
}

TEST(Forecast, WhatIsWorthMakingFasterIsWhatTheRestWaitsFor) {
  plan p("p");
  p.add(named("long"));
  p.add(named("after", {"long"}));
  p.add(named("aside"));
  const graph shape(p);
  const forecaster expected(shape, {6, 2, 3}, light(shape), {});
  const auto savings = expected.worth_making_faster(2, 3);
  ASSERT_EQ(savings.size(), 2U);  // what runs aside saves nothing
  EXPECT_EQ(savings[0].rule, 0U);
  EXPECT_DOUBLE_EQ(savings[0].seconds, 3);
  EXPECT_EQ(savings[1].rule, 1U);
  EXPECT_DOUBLE_EQ(savings[1].seconds, 1);
  EXPECT_EQ(expected.worth_making_faster(2, 1).size(), 1U);
}

TEST(Forecast, OfNothingIsNothing) {
  const plan p("p");
  const graph shape(p);
  const forecaster expected(shape, {}, {}, {});
  EXPECT_DOUBLE_EQ(expected.on(4).makespan, 0);
  EXPECT_THAT(expected.worthwhile_workers(1024), ElementsAre(1));
  EXPECT_THAT(expected.worth_making_faster(4, 3), IsEmpty());
}

}  // namespace
}  // namespace weft::batch
