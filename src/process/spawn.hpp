#pragma once

#include <sys/types.h>

#include <string>

#include <weft/process/command.hpp>

#include "process/descriptor.hpp"
#include "process/environment.hpp"

namespace weft::process {

// A process that was started, or why it was not.
struct spawned {
  pid_t pid = 0;       // 0: not started
  descriptor process;  // a pidfd
  descriptor output;   // the end of the pipe to read from; reads do not block
  int error = 0;
  std::string problem;
};

// Starts commands. What they have in common is prepared once.
//
// Threads: spawn() from any. Blocks: until the program has replaced the copy of this process.
class spawner {
 public:
  spawner();  // throws std::system_error

  [[nodiscard]] spawned spawn(const command& what, const std::string& mark) const;

 private:
  environment environment_;
  descriptor null_;
};

}  // namespace weft::process
