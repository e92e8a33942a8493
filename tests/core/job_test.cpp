#include <weft/core/job.hpp>

#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <weft/core/job_types.hpp>

namespace weft::detail {
namespace {

TEST(JobRef, EmptyOneIsFalse) {
  EXPECT_FALSE(job_ref());
  EXPECT_EQ(job_ref().get(), nullptr);
}

TEST(JobRef, RemembersTheJobAndHowItTravels) {
  queued_job j{};
  EXPECT_TRUE(job_ref::single(j));
  EXPECT_EQ(job_ref::single(j).get(), &j);
  EXPECT_FALSE(job_ref::single(j).is_batchable());
  EXPECT_EQ(job_ref::batchable(j).get(), &j);
  EXPECT_TRUE(job_ref::batchable(j).is_batchable());
  EXPECT_NE(job_ref::single(j), job_ref::batchable(j));
}

TEST(JobRef, SurvivesTheTripThroughASlot) {
  queued_job j{};
  EXPECT_EQ(job_ref::from_bits(job_ref::batchable(j).bits()), job_ref::batchable(j));
}

TEST(Outcome, KeepsTheValue) {
  outcome<std::string> o;
  o.fill([] { return std::string("value"); });
  EXPECT_FALSE(o.failed());
  EXPECT_EQ(o.error(), nullptr);
  EXPECT_EQ(o.take(), "value");
}

TEST(Outcome, OfVoidIsMonostate) {
  outcome<void> o;
  bool called = false;
  o.fill([&] { called = true; });
  EXPECT_TRUE(called);
  static_assert(std::is_same_v<decltype(o.take()), std::monostate>);
  o.take();
}

TEST(Outcome, OfAReferenceIsTheSameObject) {
  int x = 1;
  outcome<int&> o;
  o.fill([&]() -> int& { return x; });
  EXPECT_EQ(&o.take(), &x);
}

TEST(Outcome, MovesOutWhatCannotBeCopied) {
  outcome<std::unique_ptr<int>> o;
  o.fill([] { return std::make_unique<int>(4); });
  EXPECT_EQ(*o.take(), 4);
}

TEST(Outcome, HoldsWhatCannotMove) {
  struct fixed {
    explicit fixed(int v) : value(v) {}
    fixed(fixed&&) = delete;
    int value;
  };
  outcome<fixed> o;
  o.fill([] { return fixed(3); });
  EXPECT_FALSE(o.failed());
}

TEST(Outcome, RethrowsWhatWasThrown) {
  outcome<int> o;
  o.fill([]() -> int { throw std::runtime_error("no value"); });
  EXPECT_TRUE(o.failed());
  EXPECT_NE(o.error(), nullptr);
  EXPECT_THROW(o.take(), std::runtime_error);
}

TEST(Outcome, CanBeFailedFromOutside) {
  outcome<int> o;
  o.fail(std::make_exception_ptr(cancelled()));
  EXPECT_THROW(o.take(), cancelled);
}

struct throws_on_move {
  throws_on_move() = default;
  throws_on_move(const throws_on_move&) = delete;
  throws_on_move(throws_on_move&&) { throw std::domain_error("moved"); }
};

TEST(Outcome, ThrowingMoveReachesTheTaker) {
  outcome<throws_on_move> o;
  o.fill([] { return throws_on_move(); });
  EXPECT_FALSE(o.failed()) << "the value is built in place";
  EXPECT_THROW(o.take(), std::domain_error);
}

}  // namespace
}  // namespace weft::detail
