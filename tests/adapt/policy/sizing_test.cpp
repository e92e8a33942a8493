#include <weft/adapt/policy/sizing.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

using weft::adapt::explain;
using weft::adapt::name;
using weft::adapt::sizing_reason;

TEST(Sizing, EveryReasonHasANameAndASentenceOfItsOwn) {
  std::set<std::string> names;
  std::set<std::string> sentences;
  constexpr int reasons = static_cast<int>(sizing_reason::batch_size) + 1;
  for (int i = 0; i < reasons; ++i) {
    const auto reason = static_cast<sizing_reason>(i);
    names.emplace(name(reason));
    sentences.insert(explain({.reason = reason}));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(reasons));
  EXPECT_EQ(sentences.size(), static_cast<std::size_t>(reasons));
  EXPECT_EQ(names.count("?"), 0U);
}

TEST(Sizing, SentencesHaveTheFigures) {
  EXPECT_EQ(explain({.workers = 8,
                     .reason = sizing_reason::growth_undone,
                     .before = 16,
                     .measured = 101.26,
                     .compared = 99}),
            "16 to 8 workers: more workers did not pay, 101 items/s against 99");
  EXPECT_EQ(explain({.workers = 1, .reason = sizing_reason::no_demand, .before = 1}),
            "1 worker: nothing is waiting");
  EXPECT_EQ(explain({.workers = 4, .reason = sizing_reason::started, .before = 4, .measured = 3.5}),
            "4 workers: 3.5 CPUs are usable");
}

}  // namespace
