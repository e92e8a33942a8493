#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::base {

/// cgroup v1 has one hierarchy per controller and says which; v2 has a single one for all.
enum class cgroup_version : std::uint8_t { v1, v2 };

/// A control group that this process is in: its own one, or an ancestor of that.
struct cgroup {
  cgroup_version version = cgroup_version::v2;
  std::string path;       ///< Below the mount point: "/a/b", or "" for the mount point itself.
  std::string directory;  ///< Where its files are.
};

/// The groups of this process whose files for a controller, such as "cpu" or "memory", bind it. In
/// each hierarchy the own group comes first, then its ancestors, the mount point last: a limit may
/// be that of any of them.
///
/// A hybrid system has a v1 hierarchy for the controller as well as a v2 one, and the controller is
/// active in one of them. Both are listed, v1 first: the files that are there tell which it is.
///
/// `root`: /proc and the mounts are looked up below this directory.
/// Blocks: reads two files of /proc.
/// Errors: none. What is missing or makes no sense yields no groups; a group that is listed may be
/// gone, or hidden from a container.
[[nodiscard]] std::vector<cgroup> own_cgroups(const std::string& root, std::string_view controller);

}  // namespace weft::base
