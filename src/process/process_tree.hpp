#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Who belongs to a command: its process group, all its descendants, and whoever carries its mark in
// the environment, such as a daemon that left both. A process that does all three at once, leaves
// the group, loses its parent and clears its environment, is not found.

namespace weft::process {

struct process_info {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t started = 0;  // clock ticks since boot; with the pid it names one process for ever
  bool ended = false;         // and not yet waited for
  std::string marks = {};     // the value of WEFT_COMMAND_ID
};

// From the text of /proc/PID/stat, without the marks.
[[nodiscard]] std::optional<process_info> parse_process(std::string_view stat);

// The processes of this machine at one moment. Those that ended or began while it was read may or
// may not be in it.
class process_table {
 public:
  explicit process_table(std::vector<process_info> all);
  // With the marks of those that are not older than this process: others have none of ours.
  [[nodiscard]] static process_table read();

  [[nodiscard]] const std::vector<process_info>& all() const noexcept { return all_; }
  [[nodiscard]] const process_info* find(pid_t pid) const noexcept;

 private:
  std::vector<process_info> all_;  // by pid
};

// The processes of one command, followed from one look to the next.
//
// The first process of the command must not have been waited for: only so is its number, which is
// also that of the group, not given to another.
class process_tree {
 public:
  process_tree(pid_t root, std::string mark) : root_(root), mark_(std::move(mark)) {}

  // Takes over what the table shows. Whoever belonged to the tree at an earlier look still does,
  // even if its parent is gone by now.
  void look(const process_table& table);
  // To every process of the tree, as of now for the group and as of the last look for the rest.
  void send(int signal) const noexcept;
  // Waits for those that became our children when their parents ended; the root is left alone.
  void reap_orphans() noexcept;
  // Whether the last look found anybody besides the root who runs, or is still to be waited for.
  [[nodiscard]] bool has_others() const noexcept { return !others_.empty(); }

 private:
  [[nodiscard]] bool is_known(const process_info& who) const noexcept;

  pid_t root_;
  std::string mark_;
  std::vector<process_info> others_;  // by pid; without the root
};

}  // namespace weft::process
