#include "process/environment.hpp"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::process {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::StartsWith;

using variables = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> made(const variables& added, const std::string& mark = "mark") {
  const environment inherited;
  const environment::block block = inherited.with(added, mark);
  EXPECT_EQ(block.pointers.back(), nullptr);
  return {block.pointers.begin(), block.pointers.end() - 1};
}

class Environment : public ::testing::Test {
 protected:
  Environment() {
    ::setenv("WEFT_TEST_KEPT", "kept", 1);
    ::setenv("WEFT_TEST_REPLACED", "before", 1);
    ::unsetenv(environment::mark_name);
  }
  ~Environment() override {
    ::unsetenv("WEFT_TEST_KEPT");
    ::unsetenv("WEFT_TEST_REPLACED");
    ::unsetenv(environment::mark_name);
  }
};

TEST_F(Environment, InheritsAddsAndReplaces) {
  const auto block = made({{"WEFT_TEST_REPLACED", "after"}, {"WEFT_TEST_ADDED", "a=b"}});
  EXPECT_THAT(block, Contains("WEFT_TEST_KEPT=kept").Times(1));
  EXPECT_THAT(block, Contains("WEFT_TEST_ADDED=a=b").Times(1));
  EXPECT_THAT(block, Contains(StartsWith("WEFT_TEST_REPLACED=")).Times(1));
  EXPECT_THAT(block, Contains("WEFT_TEST_REPLACED=after"));
}

TEST_F(Environment, OfTwoOfOneNameTheLastCounts) {
  const auto block = made({{"WEFT_TEST_ADDED", "1"}, {"WEFT_TEST_ADDED", "2"}});
  EXPECT_THAT(block, Contains(StartsWith("WEFT_TEST_ADDED=")).Times(1));
  EXPECT_THAT(block, Contains("WEFT_TEST_ADDED=2"));
}

TEST_F(Environment, NameThatBeginsLikeAnotherIsAnother) {
  EXPECT_THAT(made({{"WEFT_TEST", "1"}}),
              AllOf(Contains("WEFT_TEST=1"), Contains("WEFT_TEST_KEPT=kept")));
}

TEST_F(Environment, EveryBlockHasItsMarkAndNobodyCanReplaceIt) {
  EXPECT_THAT(made({}), Contains("WEFT_COMMAND_ID=mark"));
  const auto block = made({{"WEFT_COMMAND_ID", "forged"}});
  EXPECT_THAT(block, Contains(StartsWith("WEFT_COMMAND_ID=")).Times(1));
  EXPECT_THAT(block, Contains("WEFT_COMMAND_ID=mark"));
}

TEST_F(Environment, MarkOfAnOuterCommandIsKept) {
  ::setenv(environment::mark_name, "outer", 1);
  EXPECT_THAT(made({}, "inner"), Contains("WEFT_COMMAND_ID=outer:inner"));
}

TEST_F(Environment, IsThatOfTheMomentItWasTaken) {
  const environment taken;
  ::setenv("WEFT_TEST_KEPT", "changed", 1);
  ::setenv("WEFT_TEST_REPLACED", std::string(4096, 'x').c_str(), 1);
  const auto block = taken.with({}, "mark");
  const std::vector<std::string> shown(block.pointers.begin(), block.pointers.end() - 1);
  EXPECT_THAT(shown, Contains("WEFT_TEST_KEPT=kept"));
  EXPECT_THAT(shown, Contains("WEFT_TEST_REPLACED=before"));
}

TEST_F(Environment, PathIsTheOneTheCommandWillSee) {
  const environment inherited;
  EXPECT_STREQ(inherited.with({{"PATH", "/here"}}, "mark").path, "/here");
  EXPECT_STREQ(inherited.with({}, "mark").path, std::getenv("PATH"));
}

TEST(Mark, IsFoundAmongOthersAsAWhole) {
  EXPECT_TRUE(has_mark("1-2-3", "1-2-3"));
  EXPECT_TRUE(has_mark("0-0-0:1-2-3:4-5-6", "1-2-3"));
  EXPECT_FALSE(has_mark("1-2-34", "1-2-3"));
  EXPECT_FALSE(has_mark("11-2-3", "1-2-3"));
  EXPECT_FALSE(has_mark("", "1-2-3"));
}

}  // namespace
}  // namespace weft::process
