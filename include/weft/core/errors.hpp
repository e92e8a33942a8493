#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace weft {

// The job was dropped before it started, or the task called away from what it waited for, by
// request_stop() or a shutdown.
// Holds no text of its own: it is made where a failing allocation could not be reported.
class cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "weft: the job was asked to stop";
  }
};

// The pool takes no more jobs.
class pool_stopped : public std::logic_error {
 public:
  explicit pool_stopped(const std::string& what) : std::logic_error(what) {}
};

// pool_options::max_pending jobs are waiting, and the pool was told to reject more.
class queue_full : public std::runtime_error {
 public:
  explicit queue_full(const std::string& what) : std::runtime_error(what) {}
};

// The time that was given for something passed before it was there.
class timed_out : public std::runtime_error {
 public:
  explicit timed_out(const std::string& what) : std::runtime_error(what) {}
};

// A forked child has none of its parent's threads, so the pools made before the fork are dead
// there.
class used_after_fork : public std::logic_error {
 public:
  explicit used_after_fork(const std::string& what) : std::logic_error(what) {}
};

}  // namespace weft
