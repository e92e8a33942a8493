#include "process/left_behind.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace weft::process {
namespace {

constexpr int groups_at_once = 4;

bool orphans_come_to_us() noexcept {
  int is_subreaper = 0;
  return ::getpid() == 1 ||
         (::prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper, 0, 0, 0) == 0 && is_subreaper != 0);
}

bool has_members(pid_t group) noexcept { return ::kill(-group, 0) == 0; }

// Whether the group may have more for us later.
bool reap_group(pid_t group) noexcept {
  siginfo_t info{};
  while (::waitid(P_PGID, static_cast<id_t>(group), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != 0) {
    // Its first process has been waited for, so this is another group that was given the number.
    if (info.si_pid == group) return false;
    ::waitpid(info.si_pid, nullptr, WNOHANG);
    info = {};
  }
  return has_members(group);
}

}  // namespace

void left_behind::add_group_of(pid_t command) {
  if (has_members(command) && orphans_come_to_us()) groups_.push_back(command);
}

void left_behind::reap_some() noexcept {
  for (int count = 0; count < groups_at_once && !groups_.empty(); ++count) {
    if (next_ >= groups_.size()) next_ = 0;
    if (reap_group(groups_[next_])) {
      ++next_;
    } else {
      groups_[next_] = groups_.back();
      groups_.pop_back();
    }
  }
}

}  // namespace weft::process
