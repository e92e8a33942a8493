#pragma once

#include <stdexcept>
#include <string>

#include <weft/core/errors.hpp>  // timed_out

namespace weft {

// A task of a fail-fast executor threw, and nothing new is taken since. The message names the first
// failure.
class executor_failed : public std::runtime_error {
 public:
  explicit executor_failed(const std::string& what) : std::runtime_error(what) {}
};

// The executor was shut down.
class executor_stopped : public std::logic_error {
 public:
  explicit executor_stopped(const std::string& what) : std::logic_error(what) {}
};

}  // namespace weft
