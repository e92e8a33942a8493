#include "process/process_tree.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weft::process {
namespace {

constexpr const char* rest = " 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 ";

TEST(ParseProcess, ReadsALineOfTheKernel) {
  const auto who = parse_process(std::string("42 (sh) S 7 40 39") + rest + "1 0 98765 1 2\n");
  ASSERT_TRUE(who);
  EXPECT_EQ(who->pid, 42);
  EXPECT_EQ(who->parent, 7);
  EXPECT_EQ(who->group, 40);
  EXPECT_EQ(who->started, 98765U);
  EXPECT_FALSE(who->ended);
}

TEST(ParseProcess, NameMayLookLikeTheRest) {
  const auto who =
      parse_process(std::string("42 (a) Z 1 1 (b) c) S 7 40 39") + rest + "1 0 98765 1 2\n");
  ASSERT_TRUE(who);
  EXPECT_EQ(who->parent, 7);
  EXPECT_FALSE(who->ended);
}

TEST(ParseProcess, ProcessWhoseFirstThreadEndedBeforeTheOthersRuns) {
  const std::string begin = std::string("42 (x) Z 7 40 39") + rest;
  EXPECT_TRUE(parse_process(begin + "1 0 98765 1\n")->ended);
  EXPECT_FALSE(parse_process(begin + "2 0 98765 1\n")->ended);
}

TEST(ParseProcess, NonsenseIsNobody) {
  for (const char* text : {"", "42", "42 (sh", "42 (sh) ", "42 (sh) S 7 40", "x (sh) S 7 40 39"}) {
    EXPECT_FALSE(parse_process(text)) << text;
  }
}

TEST(ProcessTable, HasThisProcessAndItsParent) {
  const process_table table = process_table::read();
  const process_info* self = table.find(::getpid());
  ASSERT_NE(self, nullptr);
  EXPECT_EQ(self->parent, ::getppid());
  EXPECT_EQ(self->group, ::getpgrp());
  EXPECT_EQ(table.find(0), nullptr);
}

// --- Who belongs to a tree ---------------------------------------------------------------------

constexpr pid_t root = 100;

process_info somebody(pid_t pid, pid_t parent, pid_t group, std::string marks = {}) {
  return {.pid = pid, .parent = parent, .group = group, .started = 1, .marks = std::move(marks)};
}

bool has_others(std::vector<process_info> everybody) {
  everybody.push_back(somebody(root, ::getpid(), root, "mark"));
  process_tree tree(root, "mark");
  tree.look(process_table(std::move(everybody)));
  return tree.has_others();
}

TEST(ProcessTree, IsTheGroupTheDescendantsAndTheMarked) {
  EXPECT_FALSE(has_others({}));
  EXPECT_TRUE(has_others({somebody(101, 1, root)}));
  EXPECT_TRUE(has_others({somebody(101, root, 7)}));
  EXPECT_TRUE(has_others({somebody(101, 1, 7, "mark")}));
  EXPECT_TRUE(has_others({somebody(101, 1, 7, "outer:mark:inner")}));
}

TEST(ProcessTree, IsNeitherStrangersNorOurselvesNorCommandsWithOtherMarks) {
  EXPECT_FALSE(has_others({somebody(1, 0, 1), somebody(50, 1, 50)}));
  EXPECT_FALSE(has_others({somebody(::getpid(), 1, 7, "mark")}));
  EXPECT_FALSE(has_others({somebody(101, ::getpid(), 101, "mark2"), somebody(102, 101, 101)}));
}

TEST(ProcessTree, EndedProcessCountsIfItIsOursToWaitForNowOrLater) {
  process_info ended = somebody(101, 1, root);
  ended.ended = true;
  EXPECT_FALSE(has_others({ended}));
  ended.parent = ::getpid();
  EXPECT_TRUE(has_others({ended}));
  ended.parent = root;
  EXPECT_TRUE(has_others({ended}));
}

TEST(ProcessTree, WhoeverBelongedToItStillDoesWhenNothingShowsItAnyMore) {
  process_tree tree(root, "mark");
  const process_info first = somebody(root, ::getpid(), root);
  tree.look(process_table({first, somebody(101, root, 7), somebody(102, 101, 8)}));
  tree.look(process_table({first, somebody(101, 1, 7), somebody(103, 101, 9)}));
  EXPECT_TRUE(tree.has_others());
  tree.look(process_table({first, somebody(103, 1, 9)}));
  EXPECT_TRUE(tree.has_others());
  process_info another = somebody(103, 1, 9);
  another.started = 2;  // the same number, given to somebody else
  tree.look(process_table({first, another}));
  EXPECT_FALSE(tree.has_others());
}

// --- Real processes ----------------------------------------------------------------------------

// A child that waits for a signal, in a group of its own or in ours.
pid_t fork_sleeper(bool own_group) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (own_group) ::setpgid(0, 0);
    while (true) ::pause();
  }
  if (own_group) ::setpgid(child, child);
  return child;
}

TEST(ProcessTree, ChildOfThisProcessThatIsNotPartOfItIsNotSignalled) {
  const pid_t first = fork_sleeper(true);
  const pid_t stranger = fork_sleeper(false);
  process_tree tree(first, "a mark that nobody has");
  tree.look(process_table::read());
  EXPECT_FALSE(tree.has_others());
  tree.send(SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(first, &status, 0), first);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(::waitpid(stranger, &status, WNOHANG), 0);
  ::kill(stranger, SIGKILL);
  EXPECT_EQ(::waitpid(stranger, &status, 0), stranger);
}

TEST(ProcessTree, OtherThatEndedIsReapedOnceAndOnlyIfItIsOurs) {
  const pid_t first = fork_sleeper(true);
  const pid_t other = fork_sleeper(false);
  ::setpgid(other, first);
  ::kill(other, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(other), &info, WEXITED | WNOWAIT), 0);
  process_tree tree(first, "mark");
  tree.look(process_table::read());
  EXPECT_TRUE(tree.has_others());
  tree.reap_orphans();
  EXPECT_FALSE(tree.has_others());
  EXPECT_EQ(::waitpid(other, nullptr, WNOHANG), -1);
  tree.send(SIGKILL);
  EXPECT_EQ(::waitpid(first, nullptr, 0), first);
}

}  // namespace
}  // namespace weft::process
