#include <weft/process/marked.hpp>

#include <csignal>
#include <latch>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/process/supervisor.hpp>

namespace weft::process {
namespace {

TEST(Marked, KillsThoseWithTheVariableAndNobodyElse) {
  supervisor commands;
  std::latch ended(3);
  std::vector<outcome> outcomes(4);
  std::latch all(4);
  const auto start = [&](std::size_t index, const std::string& value, const std::string& script) {
    commands.start(
        {.argv = {"/bin/sh", "-c", script}, .env = {{"WEFT_TEST_MARK", value}}, .cwd = {}}, {},
        [&, index](outcome o) {
          outcomes[index] = std::move(o);
          if (index < 3) ended.count_down();
          all.count_down();
        });
  };
  start(0, "mine", "sleep 1000");
  start(1, "mine", "sleep 1000 & wait");
  start(2, "mine", "exec sleep 1000");
  start(3, "mine too", "sleep 1000");  // the value is longer: not the same
  EXPECT_GE(kill_marked({"WEFT_TEST_MARK=mine"}), 3U);
  ended.wait();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(outcomes[i].how, ending::signalled) << i;
    EXPECT_EQ(outcomes[i].signal, SIGKILL) << i;
  }
  EXPECT_FALSE(all.try_wait());  // the fourth still runs
  EXPECT_EQ(kill_marked({"WEFT_TEST_MARK=mine too", "WEFT_TEST_OTHER=1"}), 0U);  // it lacks one
  EXPECT_GE(kill_marked({"WEFT_TEST_MARK=mine too"}), 1U);
  all.wait();
}

TEST(Marked, WithoutAnySuchProcessNothingHappens) {
  EXPECT_EQ(kill_marked({"WEFT_TEST_MARK=nobody has this"}), 0U);
}

}  // namespace
}  // namespace weft::process
