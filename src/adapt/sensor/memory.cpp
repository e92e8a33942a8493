#include <weft/adapt/sensor/memory.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/cgroup.hpp>

#include "adapt/sensor/source.hpp"
#include "base/text.hpp"

namespace weft::adapt {
namespace {

// What a group without a limit says: "max" in v2, -1 or a number near 2^63 in v1.
constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;

std::optional<std::uint64_t> if_limited(std::optional<std::uint64_t> limit) {
  return limit && *limit < unlimited ? limit : std::nullopt;
}

std::optional<std::uint64_t> read_limit(const std::string& path) {
  return if_limited(base::parse_whole<std::uint64_t>(base::read_line(path)));
}

std::optional<std::uint64_t> smaller(std::optional<std::uint64_t> a,
                                     std::optional<std::uint64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// What is known beats what is not, and of what is known the fuller memory is the worse.
sensed<memory_use> worse(const sensed<memory_use>& a, const sensed<memory_use>& b) {
  if (!a || !b) return a ? a : b;
  return b->share() > a->share() ? b : a;
}

// The names of the files that say the same in v1 and v2.
struct file_names {
  std::string_view usage;
  std::string_view limit;
  std::string_view soft_limit;  // v1 has none that is enforced
  std::string_view inactive;    // a key in memory.stat
  // A key in memory.stat: the least limit of the group and all above it, those too that a container
  // does not see. v2 has none.
  std::string_view inherited_limit;
  std::string_view kills;
};
constexpr file_names names_v1{.usage = "/memory.usage_in_bytes",
                              .limit = "/memory.limit_in_bytes",
                              .soft_limit = "",
                              .inactive = "total_inactive_file",
                              .inherited_limit = "hierarchical_memory_limit",
                              .kills = "/memory.oom_control"};
constexpr file_names names_v2{.usage = "/memory.current",
                              .limit = "/memory.max",
                              .soft_limit = "/memory.high",
                              .inactive = "inactive_file",
                              .inherited_limit = "",
                              .kills = "/memory.events"};

const file_names& names_of(const base::cgroup& group) {
  return group.version == base::cgroup_version::v1 ? names_v1 : names_v2;
}

std::string file_of(const base::cgroup& group, std::string_view name) {
  return group.directory + std::string(name);
}

std::optional<std::uint64_t> limit_of(const base::cgroup& group) {
  const file_names& names = names_of(group);
  auto limit = read_limit(file_of(group, names.limit));
  if (!names.soft_limit.empty()) {
    limit = smaller(limit, read_limit(file_of(group, names.soft_limit)));
  }
  if (!names.inherited_limit.empty()) {
    const std::string stat = base::read_text(file_of(group, "/memory.stat"));
    limit = smaller(limit, if_limited(detail::keyed_number(stat, names.inherited_limit)));
  }
  return limit;
}

sensed<memory_use> read_group(const base::cgroup& group, std::uint64_t limit) {
  const file_names& names = names_of(group);
  const auto usage = detail::read_number(file_of(group, names.usage));
  if (!usage) return unavailable{usage.reason()};
  // Without the statistics all of the usage counts, which errs on the safe side.
  const std::string stat = base::read_text(file_of(group, "/memory.stat"));
  const std::uint64_t inactive = detail::keyed_number(stat, names.inactive).value_or(0);
  return memory_use{
      .used = *usage - std::min(*usage, inactive), .limit = limit, .where = group.directory};
}

sensed<std::uint64_t> read_kills(const std::vector<base::cgroup>& groups) {
  for (const base::cgroup& group : groups) {
    const std::string text = base::read_text(file_of(group, names_of(group).kills));
    if (const auto kills = detail::keyed_number(text, "oom_kill")) return *kills;
  }
  return unavailable{"no cgroup of this process counts oom_kill"};
}

sensed<memory_use> read_machine(const std::string& root) {
  const std::string path = root + "/proc/meminfo";
  const auto text = detail::read_source(path);
  if (!text) return unavailable{text.reason()};
  const auto total = detail::keyed_number(*text, "MemTotal:");
  const auto available = detail::keyed_number(*text, "MemAvailable:");
  if (!total || !available) return unavailable{path + " has no MemTotal or no MemAvailable"};
  constexpr std::uint64_t bytes_per_unit = 1024;
  if (*total == 0 || *total > unlimited / bytes_per_unit || *available > *total) {
    return detail::makes_no_sense(path);
  }
  return memory_use{.used = (*total - *available) * bytes_per_unit,
                    .limit = *total * bytes_per_unit,
                    .where = "the machine"};
}

}  // namespace

double memory_use::share() const noexcept {
  return limit == 0 ? 1.0 : static_cast<double>(used) / static_cast<double>(limit);
}

sensed<memory_use> memory_reading::worst() const { return worse(group, machine); }

memory_sensor::memory_sensor(memory_sensor_options options)
    : root_(base::without_trailing_slashes(std::move(options.root))) {}

memory_reading memory_sensor::read() const {
  const auto groups = base::own_cgroups(root_, "memory");
  memory_reading reading;
  reading.machine = read_machine(root_);
  reading.group = unavailable{"no memory limit in the cgroups of this process"};
  for (const base::cgroup& group : groups) {
    if (const auto limit = limit_of(group)) {
      reading.group = worse(reading.group, read_group(group, *limit));
    }
  }
  reading.oom_kills = read_kills(groups);
  return reading;
}

}  // namespace weft::adapt
