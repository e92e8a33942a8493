#pragma once

#include <functional>
#include <string>
#include <utility>

#include <weft/base/result.hpp>

#include "exit_code.hpp"

namespace weft::cli {

// Ends the command with a message and a status.
struct refusal {
  int status = exit_code::usage;
  std::string message;
};

template <class T>
T must(result<T> given) {
  if (!given) throw refusal{static_cast<int>(given.error().kind), given.error().message};
  return std::move(*given);
}

// Does the work of a command, writes out what it printed, and returns its status. What goes wrong
// is said on standard error, after the name of the command.
[[nodiscard]] int guarded(const std::string& command, const std::function<int()>& work);

}  // namespace weft::cli
