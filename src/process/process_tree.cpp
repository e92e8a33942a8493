#include "process/process_tree.hpp"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>

#include "base/text.hpp"
#include "process/descriptor.hpp"
#include "process/environment.hpp"
#include "process/pidfd.hpp"

namespace weft::process {
namespace {

std::string file_of(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

std::optional<process_info> read_process(pid_t pid) {
  return parse_process(base::read_text(file_of(pid, "stat")));
}

bool is_same(const process_info& a, const process_info& b) noexcept {
  return a.pid == b.pid && a.started == b.started;
}

std::string read_marks(pid_t pid) {
  const std::string variables = base::read_text(file_of(pid, "environ"));
  const std::string name = std::string(environment::mark_name) + "=";
  for (const std::string_view variable : base::split(variables, '\0')) {
    if (variable.starts_with(name)) return std::string(variable.substr(name.size()));
  }
  return {};
}

std::vector<pid_t> list_processes() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), &::closedir);
  if (directory == nullptr) return pids;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (const auto pid = base::parse_whole<pid_t>(entry->d_name)) pids.push_back(*pid);
  }
  return pids;
}

// A number that has gone to another process since the look is not signalled: the descriptor stays
// with one process, and what is checked after it was opened is true of that one.
void send_to(const process_info& who, int signal) noexcept {
  const descriptor process = open_pidfd(who.pid);
  if (!process) return;
  const auto now = read_process(who.pid);
  if (now && is_same(*now, who)) send_signal(process, signal);
}

}  // namespace

// `pid (name) state ppid pgrp ...`; the name may have blanks and parentheses, hence the last one.
std::optional<process_info> parse_process(std::string_view stat) {
  constexpr std::size_t state = 0;
  constexpr std::size_t parent = 1;
  constexpr std::size_t group = 2;
  constexpr std::size_t thread_count = 17;
  constexpr std::size_t start_time = 19;
  const std::size_t opening = stat.find(" (");
  const std::size_t closing = stat.rfind(") ");
  if (opening == std::string_view::npos || closing == std::string_view::npos) return std::nullopt;
  const auto pid = base::parse_whole<pid_t>(stat.substr(0, opening));
  const auto fields = base::words(stat.substr(closing + 2));
  if (!pid || fields.size() <= start_time) return std::nullopt;
  const auto parent_pid = base::parse_whole<pid_t>(fields[parent]);
  const auto group_id = base::parse_whole<pid_t>(fields[group]);
  const auto threads = base::parse_whole<long>(fields[thread_count]);
  const auto started = base::parse_whole<std::uint64_t>(fields[start_time]);
  if (!parent_pid || !group_id || !threads || !started) return std::nullopt;
  // A first thread that ended before the others is shown as Z, but the process runs.
  const bool ended = (fields[state] == "Z" || fields[state] == "X") && *threads <= 1;
  return process_info{*pid, *parent_pid, *group_id, *started, ended, {}};
}

process_table::process_table(std::vector<process_info> all) : all_(std::move(all)) {
  std::sort(all_.begin(), all_.end(),
            [](const process_info& a, const process_info& b) { return a.pid < b.pid; });
}

process_table process_table::read() {
  const auto self = read_process(::getpid());
  std::vector<process_info> all;
  std::vector<pid_t> pids = list_processes();
  // The youngest first: they are the most likely to be gone a moment later.
  std::sort(pids.begin(), pids.end(), std::greater<>());
  for (const pid_t pid : pids) {
    auto found = read_process(pid);
    if (!found) continue;
    if (self && found->started >= self->started) found->marks = read_marks(pid);
    all.push_back(*std::move(found));
  }
  return process_table(std::move(all));
}

const process_info* process_table::find(pid_t pid) const noexcept {
  const auto found =
      std::lower_bound(all_.begin(), all_.end(), pid,
                       [](const process_info& who, pid_t wanted) { return who.pid < wanted; });
  return found != all_.end() && found->pid == pid ? &*found : nullptr;
}

bool process_tree::is_known(const process_info& who) const noexcept {
  return std::any_of(others_.begin(), others_.end(),
                     [&](const process_info& other) { return is_same(who, other); });
}

void process_tree::look(const process_table& table) {
  const pid_t self = ::getpid();
  std::vector<process_info> found;
  std::vector<process_info> rest;
  for (const process_info& who : table.all()) {
    if (who.pid == root_ || who.pid == self) continue;
    const bool belongs = who.group == root_ || is_known(who) || has_mark(who.marks, mark_);
    (belongs ? found : rest).push_back(who);
  }
  // Whose parent belongs to it belongs to it: `found` grows while it is walked.
  const auto take_children_of = [&](pid_t parent) {
    const auto others = std::stable_partition(
        rest.begin(), rest.end(), [&](const process_info& who) { return who.parent != parent; });
    found.insert(found.end(), others, rest.end());
    rest.erase(others, rest.end());
  };
  take_children_of(root_);
  for (std::size_t index = 0; index < found.size(); ++index) {
    take_children_of(found[index].pid);
  }
  // Who has ended is waited for by the parent: by us, now or when its parent in the tree ends too,
  // or by somebody else, and then it is none of our business.
  others_.clear();
  for (const process_info& who : found) {
    const auto is_parent = [&](const process_info& other) { return other.pid == who.parent; };
    const bool comes_to_us = who.parent == self || who.parent == root_ ||
                             std::any_of(found.begin(), found.end(), is_parent);
    if (!who.ended || comes_to_us) others_.push_back(who);
  }
}

void process_tree::send(int signal) const noexcept {
  ::kill(-root_, signal);
  for (const process_info& who : others_) {
    if (who.group != root_ && !who.ended) send_to(who, signal);
  }
}

void process_tree::reap_orphans() noexcept {
  std::erase_if(others_, [self = ::getpid()](const process_info& who) {
    return who.ended && who.parent == self && ::waitpid(who.pid, nullptr, WNOHANG) != 0;
  });
}

}  // namespace weft::process
