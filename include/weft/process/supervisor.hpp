#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <weft/process/command.hpp>

namespace weft::process {

// A command that was started; 0 is none.
using child_id = std::uint64_t;

// How much time a command gets to end.
enum class stop_mode : std::uint8_t {
  gently,  // SIGTERM, and SIGKILL after the grace
  now,     // SIGKILL
};

// Starts commands and waits for them, all in one thread of its own.
//
// Every command gets a process group of its own, standard input from /dev/null, one pipe for both
// outputs, no other descriptor, and the default signal mask and dispositions. A command that is
// killed is killed with everything it started, also what moved to another group or session: the
// variable WEFT_COMMAND_ID in its environment tells whose it is.
//
// A command runs in the scheduling class of the main thread. One that a thread of a lower class
// starts (SCHED_IDLE, or a higher nice value) is started by the supervisor's thread instead, since
// a class is inherited and takes privilege to leave. So a supervisor should be made by a thread
// that was not lowered: without privilege its commands would stay as low as that.
//
// The program goes on to own its signals and its other children. It must not ignore SIGCHLD, which
// is inherited over exec, nor wait for children that are not its own: exit statuses would be lost.
//
// Threads: start() and stop() from any thread, also from a completion. Blocks: start() until the
// program runs, which is less than a millisecond, or not at all in a lowered thread; the
// destructor, which kills what runs and waits for it, half a second at most. Errors:
// std::system_error from the constructor; a command that cannot start ends as not_started.
// Lifetime: not to be used in a forked child.
class supervisor {
 public:
  // Is called once for each command, on the supervisor's thread, and must not throw. start() may
  // be called in it: this is how one command follows another without waking a thread.
  using completion = std::function<void(outcome)>;

  supervisor();
  ~supervisor();
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;

  // The completion is never called inside start(). While the supervisor is being destroyed nothing
  // is started any more.
  child_id start(const command& what, const limits& allowed, completion done);
  // Nothing happens if the command has ended already. `now` hastens a stop or a timeout that still
  // gives grace.
  void stop(child_id child, stop_mode mode);

 private:
  class loop;
  std::unique_ptr<loop> loop_;
};

// Makes this process the parent of what its descendants leave behind. Supervisors wait for those
// they kill and for those in the groups of their commands; another that left its group, and ends
// before anybody looks, stays a zombie until this process ends. For a program to call, not for a
// library. False where the kernel refuses.
[[nodiscard]] bool become_subreaper() noexcept;

}  // namespace weft::process
