#include <weft/io/cpu_class.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace weft::io {

std::error_code lower_this_thread() noexcept {
  constexpr int highest = 19;
  // On Linux the number of a thread stands where POSIX has that of a process.
  if (::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), highest) == 0) return {};
  return {errno, std::generic_category()};
}

}  // namespace weft::io
