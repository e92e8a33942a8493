#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace weft::process {

// Waits for orphans in the groups of commands that have ended by themselves. They come to us if the
// program has become a subreaper, and would stay zombies, one for each `something &` of a script.
class left_behind {
 public:
  // A command that has ended and has been waited for.
  void add_group_of(pid_t command);
  // Does not wait for those that still run. A few groups at a time: daemons live long.
  void reap_some() noexcept;

 private:
  std::vector<pid_t> groups_;
  std::size_t next_ = 0;
};

}  // namespace weft::process
