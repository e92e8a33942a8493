#include "process/spawn.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include <weft/base/assert.hpp>

#include "process/pidfd.hpp"
#include "process/program.hpp"

namespace weft::process {
namespace {

constexpr int first_free = 3;

// A descriptor below 3 would be overwritten while the child's own are put in place. One is free
// there when the host has closed its standard streams.
descriptor above_standard(descriptor original) {
  if (!original || original.get() >= first_free) return original;
  return descriptor(::fcntl(original.get(), F_DUPFD_CLOEXEC, first_free));
}

struct pipe_ends {
  descriptor read;
  descriptor write;
};

// Both ends or none, and then errno says why.
pipe_ends open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  pipe_ends made{descriptor(ends[0]), above_standard(descriptor(ends[1]))};
  // Only our end: programs do not expect that writing does not block.
  if (!made.write || ::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return {};
  return made;
}

void must(int error) { WEFT_ASSERT(error == 0, "no memory to start a command"); }

// Default signals, none blocked, a group of its own.
class spawn_attributes {
 public:
  spawn_attributes() {
    must(::posix_spawnattr_init(&value_));
    sigset_t signals;
    ::sigemptyset(&signals);
    must(::posix_spawnattr_setsigmask(&value_, &signals));
    // Not sigfillset(): it leaves out the two that glibc keeps for itself, and then posix_spawn()
    // leaves them ignored.
    std::memset(&signals, 0xff, sizeof(signals));
    must(::posix_spawnattr_setsigdefault(&value_, &signals));
    must(::posix_spawnattr_setpgroup(&value_, 0));
    must(::posix_spawnattr_setflags(
        &value_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
  }
  spawn_attributes(const spawn_attributes&) = delete;
  spawn_attributes& operator=(const spawn_attributes&) = delete;
  ~spawn_attributes() { ::posix_spawnattr_destroy(&value_); }
  [[nodiscard]] const posix_spawnattr_t* get() const noexcept { return &value_; }

 private:
  posix_spawnattr_t value_{};
};

// What the child does before it becomes the program. closefrom comes last: what it closes is used
// before.
class spawn_actions {
 public:
  spawn_actions(int input, int output, const std::string& cwd) {
    must(::posix_spawn_file_actions_init(&value_));
    must(::posix_spawn_file_actions_adddup2(&value_, input, STDIN_FILENO));
    must(::posix_spawn_file_actions_adddup2(&value_, output, STDOUT_FILENO));
    must(::posix_spawn_file_actions_adddup2(&value_, output, STDERR_FILENO));
    if (!cwd.empty()) must(::posix_spawn_file_actions_addchdir_np(&value_, cwd.c_str()));
    must(::posix_spawn_file_actions_addclosefrom_np(&value_, first_free));
  }
  spawn_actions(const spawn_actions&) = delete;
  spawn_actions& operator=(const spawn_actions&) = delete;
  ~spawn_actions() { ::posix_spawn_file_actions_destroy(&value_); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const noexcept { return &value_; }

 private:
  posix_spawn_file_actions_t value_{};
};

spawned not_started(const command& what, int error) {
  spawned failed;
  failed.error = error;
  failed.problem = explain_start_error(what, error);
  return failed;
}

}  // namespace

spawner::spawner() : null_(above_standard(descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)))) {
  if (!null_) throw std::system_error(errno, std::generic_category(), "weft: /dev/null");
}

spawned spawner::spawn(const command& what, const std::string& mark) const {
  if (std::string problem = find_malformed(what); !problem.empty()) {
    spawned malformed;
    malformed.error = EINVAL;
    malformed.problem = std::move(problem);
    return malformed;
  }
  const environment::block variables = environment_.with(what.env, mark);
  const located_program program = locate_program(what, variables.path);
  if (program.error != 0) return not_started(what, program.error);
  pipe_ends pipe = open_pipe();
  if (!pipe.write) return not_started(what, errno);

  std::vector<char*> arguments;
  arguments.reserve(what.argv.size() + 1);
  // execve() takes them as char* and writes to none.
  for (const std::string& argument : what.argv) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  static const spawn_attributes attributes;
  const spawn_actions actions(null_.get(), pipe.write.get(), what.cwd);
  spawned started;
  const int error = ::posix_spawn(&started.pid, program.file.c_str(), actions.get(),
                                  attributes.get(), arguments.data(), variables.pointers.data());
  if (error != 0) return not_started(what, error);

  // Before the pidfd is opened, so that a number is free for it.
  pipe.write.close();
  // Nobody else waits for the child, so its number is not given to another meanwhile.
  started.process = open_pidfd(started.pid);
  if (!started.process && errno != ESRCH) {
    const int refusal = errno;
    ::kill(-started.pid, SIGKILL);
    ::waitpid(started.pid, nullptr, 0);
    return not_started(what, refusal);
  }
  started.output = std::move(pipe.read);
  return started;
}

}  // namespace weft::process
