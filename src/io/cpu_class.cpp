#include <weft/io/cpu_class.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace weft::io {

std::error_code lower_this_thread() noexcept {
  const sched_param none{};
  // On Linux, 0 is the calling thread, and so is a thread's number where POSIX has a process.
  if (::sched_setscheduler(0, SCHED_IDLE, &none) == 0) return {};
  constexpr int highest = 19;
  if (::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), highest) == 0) return {};
  return {errno, std::generic_category()};
}

}  // namespace weft::io
