#pragma once

#include <string>

#include <weft/process/command.hpp>

// Which file a command runs, and what to tell its author when it cannot.

namespace weft::process {

// What is wrong with a command before anybody looks for its program; empty when nothing is.
[[nodiscard]] std::string find_malformed(const command& what);

// A path for execve() after a change to the command's directory, as execvp() finds it: argv[0] if
// it has a slash, else the first executable file of that name in `path`. An empty one and an error
// number when there is none. `path` may be null: then the system's default is searched.
struct located_program {
  std::string file;
  int error = 0;
};
[[nodiscard]] located_program locate_program(const command& what, const char* path);

// A sentence about a command that did not start: what, why, what to do. Looks at the files again,
// since one error number has many causes.
[[nodiscard]] std::string explain_start_error(const command& what, int error);

}  // namespace weft::process
