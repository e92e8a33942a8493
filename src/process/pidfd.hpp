#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "process/descriptor.hpp"

// A pidfd stays with one process, whoever gets its number next. As system calls, because
// <sys/pidfd.h> of glibc 2.36 forgets to declare its functions as C.

namespace weft::process {

// None, and errno, if there is no such process.
[[nodiscard]] inline descriptor open_pidfd(pid_t pid) noexcept {
  return descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

inline void send_signal(const descriptor& process, int signal) noexcept {
  ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
}

}  // namespace weft::process
