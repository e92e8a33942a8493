#include <weft/adapt/sensor/cpu.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include "adapt/sensor/source.hpp"
#include "base/text.hpp"

namespace weft::adapt {
namespace {

unavailable went_back() { return {"a counter went back"}; }
unavailable no_time_has_passed() { return {"no time has passed since the last reading"}; }

// What is known beats what is not, and of what is known the greater share is the worse.
sensed<group_share> worse(const sensed<group_share>& a, const sensed<group_share>& b) {
  if (!a || !b) return a ? a : b;
  return b->share > a->share ? b : a;
}

sensed<std::uint64_t> keyed_counter(const sensed<std::string>& text, const std::string& path,
                                    std::string_view key) {
  if (!text) return unavailable{text.reason()};
  const auto number = detail::keyed_number(*text, key);
  if (!number) return unavailable{path + " has no " + std::string(key)};
  return *number;
}

// Lines are `cpu0 user nice ...`, one for each CPU that is online.
unsigned count_cpus(std::string_view stat) {
  const auto lines = base::split(stat, '\n');
  const auto is_cpu = [](std::string_view line) {
    return line.size() > 3 && line.starts_with("cpu") && line[3] >= '0' && line[3] <= '9';
  };
  return static_cast<unsigned>(std::count_if(lines.begin(), lines.end(), is_cpu));
}

// The load counts everyone on the machine, so it is spread over all CPUs of the machine, and not
// only over those that this process may use.
sensed<double> read_load_per_cpu(const std::string& root, unsigned cpus) {
  const std::string path = root + "/proc/loadavg";
  const auto text = detail::read_source(path);
  if (!text) return unavailable{text.reason()};
  if (cpus == 0) return unavailable{root + "/proc/stat lists no CPUs to spread the load over"};
  const auto fields = base::words(*text);
  const auto load = fields.empty() ? std::nullopt : base::parse_decimal(fields[0]);
  if (!load || *load < 0) return detail::makes_no_sense(path);
  return *load / cpus;
}

}  // namespace

cpu_sensor::cpu_sensor(cpu_sensor_options options)
    : root_(base::without_trailing_slashes(std::move(options.root))), affinity_(options.affinity) {}

cpu_reading cpu_sensor::read(time_point now) {
  const base::cpu_limit limit = base::read_cpu_limit({.root = root_, .affinity = affinity_});
  cpu_reading reading;
  reading.usable = limit.usable();
  if (const base::cpu_quota* const least = base::tightest(limit.quotas)) {
    reading.quota = least->cpus();
  } else {
    reading.quota = unavailable{"no CPU quota in the cgroups of this process"};
  }
  read_machine(reading);
  read_groups(limit.quotas, now, reading);
  return reading;
}

// --- The machine -------------------------------------------------------------------------------

void cpu_sensor::read_machine(cpu_reading& reading) {
  const std::string path = root_ + "/proc/stat";
  const auto stat = detail::read_source(path);
  reading.load_per_cpu = read_load_per_cpu(root_, stat ? count_cpus(*stat) : 0);
  const auto ticks =
      stat ? parse_ticks(*stat, path) : sensed<machine_ticks>(unavailable{stat.reason()});
  reading.utilisation = utilisation_since(last_ticks_, ticks);
  if (ticks) last_ticks_ = *ticks;
}

sensed<double> cpu_sensor::utilisation_since(const std::optional<machine_ticks>& before,
                                             const sensed<machine_ticks>& after) {
  if (!after) return unavailable{after.reason()};
  if (!before) return detail::needs_a_second_reading();
  if (after->busy < before->busy || after->idle < before->idle) return went_back();
  const auto busy = static_cast<double>(after->busy - before->busy);
  const auto idle = static_cast<double>(after->idle - before->idle);
  if (busy + idle <= 0) return no_time_has_passed();
  return busy / (busy + idle);
}

// The first line is `cpu user nice system idle iowait irq softirq steal guest guest_nice`; old
// kernels write fewer columns. Guests are part of user and nice.
sensed<cpu_sensor::machine_ticks> cpu_sensor::parse_ticks(const std::string& stat,
                                                          const std::string& path) {
  const auto fields = base::words(base::first_line(stat));
  if (fields.size() < 5 || fields[0] != "cpu") return detail::makes_no_sense(path);
  machine_ticks ticks;
  const std::size_t columns = std::min<std::size_t>(fields.size(), 9);
  for (std::size_t column = 1; column < columns; ++column) {
    const auto value = base::parse_whole<std::uint64_t>(fields[column]);
    if (!value) return detail::makes_no_sense(path);
    const bool is_idle = column == 4 || column == 5;
    (is_idle ? ticks.idle : ticks.busy) += *value;
  }
  return ticks;
}

// --- The groups that have a quota --------------------------------------------------------------

void cpu_sensor::read_groups(const std::vector<base::cpu_quota>& quotas, time_point now,
                             cpu_reading& reading) {
  reading.quota_use = reading.throttled = unavailable{reading.quota.reason()};
  std::vector<group_counters> counters;
  for (const base::cpu_quota& quota : quotas) {
    const group_counters* const before = find_last(quota.group.directory);
    const group_counters& after = counters.emplace_back(read_counters(quota.group, now));
    reading.quota_use = worse(reading.quota_use, use_since(before, after, quota));
    reading.throttled = worse(reading.throttled, throttled_since(before, after, quota));
  }
  last_groups_ = std::move(counters);
}

cpu_sensor::group_counters cpu_sensor::read_counters(const base::cgroup& group,
                                                     time_point now) const {
  const std::string path = group.directory + "/cpu.stat";
  const auto stat = detail::read_source(path);
  group_counters counters;
  counters.directory = group.directory;
  counters.at = now;
  counters.periods = keyed_counter(stat, path, "nr_periods");
  counters.throttled = keyed_counter(stat, path, "nr_throttled");
  counters.used_us = group.version == base::cgroup_version::v1
                         ? read_used_us_v1(group)
                         : keyed_counter(stat, path, "usage_usec");
  return counters;
}

// In v1 another controller counts the CPU time. Most systems mount both together; otherwise it is
// the group of the same path there.
sensed<std::uint64_t> cpu_sensor::read_used_us_v1(const base::cgroup& group) const {
  auto used = detail::read_number(group.directory + "/cpuacct.usage");
  if (!used) {
    for (const base::cgroup& other : base::own_cgroups(root_, "cpuacct")) {
      if (other.version != base::cgroup_version::v1 || other.path != group.path) continue;
      used = detail::read_number(other.directory + "/cpuacct.usage");
    }
  }
  if (!used) return unavailable{used.reason()};
  return *used / 1000;  // nanoseconds
}

const cpu_sensor::group_counters* cpu_sensor::find_last(const std::string& directory) const {
  const auto found =
      std::find_if(last_groups_.begin(), last_groups_.end(),
                   [&](const group_counters& group) { return group.directory == directory; });
  return found == last_groups_.end() ? nullptr : &*found;
}

sensed<group_share> cpu_sensor::use_since(const group_counters* before, const group_counters& after,
                                          const base::cpu_quota& quota) {
  if (!after.used_us) return unavailable{after.used_us.reason()};
  if (before == nullptr || !before->used_us) return detail::needs_a_second_reading();
  if (*after.used_us < *before->used_us) return went_back();
  const std::chrono::duration<double, std::micro> elapsed = after.at - before->at;
  if (elapsed.count() <= 0) return no_time_has_passed();
  const auto used = static_cast<double>(*after.used_us - *before->used_us);
  return group_share{used / elapsed.count() / quota.cpus(), after.directory};
}

sensed<group_share> cpu_sensor::throttled_since(const group_counters* before,
                                                const group_counters& after,
                                                const base::cpu_quota& quota) {
  if (!after.periods) return unavailable{after.periods.reason()};
  if (!after.throttled) return unavailable{after.throttled.reason()};
  if (before == nullptr || !before->periods || !before->throttled) {
    return detail::needs_a_second_reading();
  }
  if (*after.periods < *before->periods || *after.throttled < *before->throttled) {
    return went_back();
  }
  const std::uint64_t periods = *after.periods - *before->periods;
  const std::uint64_t throttled = *after.throttled - *before->throttled;
  if (periods == 0) {
    // Periods are counted while the group runs. A group that did not run was not stopped either.
    if (after.at - before->at < quota.period) return no_time_has_passed();
    return group_share{0, after.directory};
  }
  const double share = static_cast<double>(throttled) / static_cast<double>(periods);
  return group_share{std::min(share, 1.0), after.directory};
}

}  // namespace weft::adapt
