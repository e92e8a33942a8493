#include <weft/adapt/sensor/disk.hpp>

#include <sys/statvfs.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace weft::adapt {

double disk_space::free_share() const noexcept {
  return size == 0 ? 0.0 : static_cast<double>(free) / static_cast<double>(size);
}

disk_sensor::disk_sensor(disk_sensor_options options) : path_(std::move(options.path)) {}

sensed<disk_space> disk_sensor::read() const {
  struct statvfs found{};
  if (::statvfs(path_.c_str(), &found) != 0) {
    const std::string why = std::generic_category().message(errno);
    return unavailable{"cannot ask for the file system of " + path_ + ": " + why};
  }
  if (found.f_blocks == 0 || found.f_bfree > found.f_blocks) {
    return unavailable{"the file system of " + path_ + " has no size"};
  }
  const std::uint64_t block = found.f_frsize != 0 ? found.f_frsize : found.f_bsize;
  const std::uint64_t used = found.f_blocks - found.f_bfree;
  return disk_space{.free = found.f_bavail * block, .size = (used + found.f_bavail) * block};
}

}  // namespace weft::adapt
