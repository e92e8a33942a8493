#include <weft/base/cgroup.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace weft::base {
namespace {

// Which hierarchy: in v2 the controller does not matter.
struct hierarchy {
  cgroup_version version;
  std::string_view controller;
};

// A directory of a cgroup hierarchy that is mounted somewhere.
struct cgroup_mount {
  std::string root;   // which directory of the hierarchy
  std::string point;  // where it is mounted
};

bool lists(std::string_view comma_separated, std::string_view item) {
  const auto items = split(comma_separated, ',');
  return std::find(items.begin(), items.end(), item) != items.end();
}

// mountinfo writes space, tab, newline and backslash as \ooo.
std::string unescape(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
        octal(text[i + 3])) {
      const int code = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// Lines are `id parent device root point options [optional...] - type source super-options`.
std::vector<cgroup_mount> find_mounts(std::string_view mountinfo, const hierarchy& wanted) {
  std::vector<cgroup_mount> mounts;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const auto fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 4) continue;
    const bool matches = wanted.version == cgroup_version::v1
                             ? dash[1] == "cgroup" && lists(dash[3], wanted.controller)
                             : dash[1] == "cgroup2";
    if (matches) mounts.push_back({unescape(fields[3]), unescape(fields[4])});
  }
  return mounts;
}

// Lines are `id:controllers:path`; v2 has id 0 and no controllers. A path may contain colons.
std::optional<std::string> find_own_path(std::string_view proc_cgroup, const hierarchy& wanted) {
  for (const std::string_view line : split(proc_cgroup, '\n')) {
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool matches = wanted.version == cgroup_version::v1
                             ? lists(controllers, wanted.controller)
                             : line.substr(0, first) == "0" && controllers.empty();
    if (matches) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

// `path` as seen from a mount of `root`: "" for the mount point itself, otherwise "/a/b". Nothing
// when the mount does not show that path.
std::optional<std::string> below(std::string_view root, std::string_view path) {
  // A path that leaves the cgroup namespace ("/../x") cannot be followed by name.
  const auto components = split(path, '/');
  if (std::find(components.begin(), components.end(), "..") != components.end()) {
    return std::nullopt;
  }
  if (root == "/") root = "";
  if (path == "/") path = "";
  if (!path.starts_with(root)) return std::nullopt;
  path.remove_prefix(root.size());
  if (!path.empty() && path.front() != '/') return std::nullopt;
  return std::string(path);
}

struct place_in_mount {
  std::string point;
  std::string relative;  // as below() gives it
};

// A container may see its cgroup mounted as if it were the root, while the path names it as the
// host does. Then no mount shows the path, and the mount point is our cgroup, or contains it.
// Otherwise the mount with the shortest root shows the most ancestors.
place_in_mount best_place(const std::vector<cgroup_mount>& mounts, std::string_view own_path) {
  const cgroup_mount* best = &mounts.front();
  std::string relative;
  bool shown = false;
  for (const cgroup_mount& mount : mounts) {
    auto path = below(mount.root, own_path);
    if (!path || (shown && mount.root.size() >= best->root.size())) continue;
    best = &mount;
    relative = *std::move(path);
    shown = true;
  }
  return {best->point, std::move(relative)};
}

}  // namespace

std::vector<cgroup> own_cgroups(const std::string& root, std::string_view controller) {
  const std::string prefix = without_trailing_slashes(root);
  const std::string proc_cgroup = read_text(prefix + "/proc/self/cgroup");
  const std::string mountinfo = read_text(prefix + "/proc/self/mountinfo");

  std::vector<cgroup> groups;
  for (const cgroup_version version : {cgroup_version::v1, cgroup_version::v2}) {
    const hierarchy wanted{version, controller};
    const auto own_path = find_own_path(proc_cgroup, wanted);
    const auto mounts = find_mounts(mountinfo, wanted);
    if (!own_path || mounts.empty()) continue;

    auto [point, relative] = best_place(mounts, *own_path);
    while (true) {
      groups.push_back({version, relative, prefix + point + relative});
      if (relative.empty()) break;
      relative.erase(relative.rfind('/'));
    }
  }
  return groups;
}

}  // namespace weft::base
