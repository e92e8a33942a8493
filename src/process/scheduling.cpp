#include "process/scheduling.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace weft::process {
namespace {

// On Linux the number of a thread stands where POSIX has that of a process; the main thread has the
// number of the process.
standing standing_of(pid_t thread) noexcept {
  return {::sched_getscheduler(thread) == SCHED_IDLE,
          ::getpriority(PRIO_PROCESS, static_cast<id_t>(thread))};
}

}  // namespace

standing standing_of_this_thread() noexcept { return standing_of(::gettid()); }

standing standing_of_main_thread() noexcept { return standing_of(::getpid()); }

bool is_lowered(const standing& who, const standing& against) noexcept {
  return (who.is_idle_class && !against.is_idle_class) || who.nice > against.nice;
}

void raise_this_thread() noexcept {
  const standing own = standing_of_this_thread();
  const standing main = standing_of_main_thread();
  if (own.is_idle_class && !main.is_idle_class) {
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_OTHER, &none);
  }
  if (own.nice > main.nice) {
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), main.nice);
  }
}

}  // namespace weft::process
