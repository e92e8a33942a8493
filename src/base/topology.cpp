#include <weft/base/topology.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <vector>

namespace weft::base {
namespace {

// --- Affinity ----------------------------------------------------------------------------------

int ask_kernel_for_affinity(std::size_t bytes, cpu_set_t* mask) {
  return sched_getaffinity(0, bytes, mask);
}

unsigned count_affinity(affinity_reader read) {
  // cpu_set_t holds 1024 CPUs and kernels may be built for more, so the mask grows until it fits.
  // No kernel comes near the last size; the bound is there so that the loop has one.
  for (std::size_t sets = 1; sets <= 1024; sets *= 2) {
    std::vector<cpu_set_t> mask(sets);
    const std::size_t bytes = sets * sizeof(cpu_set_t);
    if (read(bytes, mask.data()) == 0) {
      const int count = CPU_COUNT_S(bytes, mask.data());
      return count > 0 ? static_cast<unsigned>(count) : 1U;
    }
    if (errno != EINVAL) break;
  }
  // A sandbox may forbid the call. The CPUs that are online are the next best answer.
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<unsigned>(online) : 1U;
}

// --- Text --------------------------------------------------------------------------------------

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool lists(std::string_view comma_separated, std::string_view item) {
  const auto items = split(comma_separated, ',');
  return std::find(items.begin(), items.end(), item) != items.end();
}

// The whole text must be one number: "100000 " or "1e5" is not what the kernel writes.
template <class Integer>
std::optional<Integer> parse_whole(std::string_view text) {
  Integer value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// Empty when the file cannot be read: for every file here that means the same as no content.
std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

// --- Quotas ------------------------------------------------------------------------------------

// cgroup v1 has one hierarchy per controller and says which; v2 has a single one for all.
enum class cgroup_version : std::uint8_t { v1, v2 };

std::optional<unsigned> whole_cpus(std::string_view quota_text, std::string_view period_text) {
  // No quota is "max" in v2 and -1 in v1.
  const auto quota = parse_whole<std::int64_t>(quota_text);
  const auto period = parse_whole<std::int64_t>(period_text);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  const std::int64_t cpus = (*quota - 1) / *period + 1;
  constexpr std::int64_t most = std::numeric_limits<unsigned>::max();
  return static_cast<unsigned>(std::min(cpus, most));
}

std::optional<unsigned> quota_of_directory(const std::string& directory, cgroup_version version) {
  if (version == cgroup_version::v1) {
    return whole_cpus(first_line(read_text(directory + "/cpu.cfs_quota_us")),
                      first_line(read_text(directory + "/cpu.cfs_period_us")));
  }
  const std::string text = read_text(directory + "/cpu.max");
  const auto fields = split(first_line(text), ' ');
  if (fields.size() != 2) return std::nullopt;
  return whole_cpus(fields[0], fields[1]);
}

std::optional<unsigned> tighter(std::optional<unsigned> a, std::optional<unsigned> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// --- Where the cgroup of this process is -----------------------------------------------------

// A directory of a cgroup hierarchy that is mounted somewhere.
struct cgroup_mount {
  std::string root;   // which directory of the hierarchy
  std::string point;  // where it is mounted
};

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
std::vector<cgroup_mount> find_mounts(std::string_view mountinfo, cgroup_version version) {
  std::vector<cgroup_mount> mounts;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const auto fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 4) continue;
    const bool matches = version == cgroup_version::v1
                             ? dash[1] == "cgroup" && lists(dash[3], "cpu")
                             : dash[1] == "cgroup2";
    if (matches) mounts.push_back({unescape(fields[3]), unescape(fields[4])});
  }
  return mounts;
}

// Lines are `id:controllers:path`; v2 has id 0 and no controllers. A path may contain colons.
std::optional<std::string> find_own_path(std::string_view proc_cgroup, cgroup_version version) {
  for (const std::string_view line : split(proc_cgroup, '\n')) {
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool matches = version == cgroup_version::v1
                             ? lists(controllers, "cpu")
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

std::optional<unsigned> tightest_quota(const std::string& root, cgroup_version version) {
  const auto own_path = find_own_path(read_text(root + "/proc/self/cgroup"), version);
  const auto mounts = find_mounts(read_text(root + "/proc/self/mountinfo"), version);
  if (!own_path || mounts.empty()) return std::nullopt;

  // A container may see its cgroup mounted as if it were the root, while the path names it as the
  // host does. Then no mount shows the path, and the mount point is our cgroup, or contains it.
  // Otherwise the mount with the shortest root shows the most ancestors.
  const cgroup_mount* best = &mounts.front();
  std::string relative;
  bool shown = false;
  for (const cgroup_mount& mount : mounts) {
    auto path = below(mount.root, *own_path);
    if (!path || (shown && mount.root.size() >= best->root.size())) continue;
    best = &mount;
    relative = *std::move(path);
    shown = true;
  }

  // The tightest quota may be that of any ancestor, so all of them are read, the mount point last.
  std::optional<unsigned> quota;
  while (true) {
    quota = tighter(quota, quota_of_directory(root + best->point + relative, version));
    if (relative.empty()) return quota;
    relative.erase(relative.rfind('/'));
  }
}

}  // namespace

unsigned cpu_limit::usable() const noexcept {
  return std::max(1U, quota ? std::min(affinity, *quota) : affinity);
}

cpu_limit read_cpu_limit(const system_root& root) {
  std::string directory = root.root;
  while (directory.ends_with('/')) directory.pop_back();
  // A hybrid system has both kinds of mounts; the controller is active in one of them.
  return {
      .affinity = count_affinity(root.affinity ? root.affinity : ask_kernel_for_affinity),
      .quota = tighter(tightest_quota(directory, cgroup_version::v1),
                       tightest_quota(directory, cgroup_version::v2)),
  };
}

unsigned usable_cpus(const system_root& root) { return read_cpu_limit(root).usable(); }

parsed_worker_count parse_worker_count(std::string_view text, unsigned max) {
  const auto count = parse_whole<unsigned>(text);
  if (count && *count >= 1 && *count <= max) return {.count = count, .error = {}};
  return {.count = std::nullopt,
          .error = "WEFT_WORKERS=\"" + std::string(text) +
                   "\" is not a whole number between 1 and " + std::to_string(max) +
                   "; unset it or set e.g. WEFT_WORKERS=" + std::to_string(std::min(4U, max))};
}

}  // namespace weft::base
