#include <weft/base/cpu_quota.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/text.hpp"

namespace weft::base {
namespace {

std::optional<cpu_quota> parse_quota(std::string_view quota_text, std::string_view period_text) {
  // No quota is "max" in v2 and -1 in v1.
  const auto quota = parse_whole<std::int64_t>(quota_text);
  const auto period = parse_whole<std::int64_t>(period_text);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return cpu_quota{.quota = std::chrono::microseconds(*quota),
                   .period = std::chrono::microseconds(*period),
                   .group = {}};
}

std::optional<cpu_quota> quota_of(const cgroup& group) {
  if (group.version == cgroup_version::v1) {
    return parse_quota(read_line(group.directory + "/cpu.cfs_quota_us"),
                       read_line(group.directory + "/cpu.cfs_period_us"));
  }
  const std::string line = read_line(group.directory + "/cpu.max");
  const auto fields = split(line, ' ');
  if (fields.size() != 2) return std::nullopt;
  return parse_quota(fields[0], fields[1]);
}

}  // namespace

double cpu_quota::cpus() const noexcept {
  return static_cast<double>(quota.count()) / static_cast<double>(period.count());
}

unsigned cpu_quota::whole_cpus() const noexcept {
  const std::int64_t cpus = (quota.count() - 1) / period.count() + 1;
  constexpr std::int64_t most = std::numeric_limits<unsigned>::max();
  return static_cast<unsigned>(std::min(cpus, most));
}

std::vector<cpu_quota> read_cpu_quotas(const std::string& root) {
  std::vector<cpu_quota> quotas;
  for (const cgroup& group : own_cgroups(root, "cpu")) {
    if (auto quota = quota_of(group)) {
      quota->group = group;
      quotas.push_back(*std::move(quota));
    }
  }
  return quotas;
}

const cpu_quota* tightest(const std::vector<cpu_quota>& quotas) noexcept {
  const auto fewer = [](const cpu_quota& a, const cpu_quota& b) { return a.cpus() < b.cpus(); };
  const auto found = std::min_element(quotas.begin(), quotas.end(), fewer);
  return found == quotas.end() ? nullptr : &*found;
}

}  // namespace weft::base
