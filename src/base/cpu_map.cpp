#include <weft/base/cpu_map.hpp>

#include <algorithm>

#include "base/text.hpp"

namespace weft::base {
namespace {

constexpr unsigned most_cpus = 1U << 16;  // more than any kernel has; keeps nonsense small

std::optional<unsigned> parse_number(std::string_view text) {
  const auto value = parse_whole<unsigned>(text);
  return value && *value < most_cpus ? value : std::nullopt;
}

std::vector<unsigned> cpus_in(const std::string& path) {
  return parse_cpu_list(read_line(path)).value_or(std::vector<unsigned>());
}

// The CPUs that share the last level of cache with this one, itself included.
std::vector<unsigned> sharing_last_cache(const std::string& cpu_directory) {
  std::string last;
  unsigned deepest = 0;
  for (unsigned index = 0;; ++index) {
    const std::string directory = cpu_directory + "/cache/index" + std::to_string(index);
    const auto level = parse_number(read_line(directory + "/level"));
    if (!level) break;
    if (*level > deepest && read_line(directory + "/type") != "Instruction") {
      deepest = *level;
      last = directory;
    }
  }
  return last.empty() ? std::vector<unsigned>() : cpus_in(last + "/shared_cpu_list");
}

}  // namespace

std::optional<std::vector<unsigned>> parse_cpu_list(std::string_view text) {
  std::vector<unsigned> cpus;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const auto dash = part.find('-');
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

cpu_map::cpu_map(const std::string& root) {
  const std::string devices = root + "/sys/devices/system";
  const std::vector<unsigned> online = cpus_in(devices + "/cpu/online");
  if (online.empty()) return;
  places_.resize(*std::max_element(online.begin(), online.end()) + 1);
  std::vector<bool> known(places_.size());
  for (const unsigned cpu : online) {
    if (known[cpu]) continue;  // came with another one
    const auto sharing = sharing_last_cache(devices + "/cpu/cpu" + std::to_string(cpu));
    for (const unsigned other : sharing) {
      if (other >= places_.size()) continue;
      places_[other].cache = cpu;
      known[other] = true;
    }
  }
  for (const unsigned node : cpus_in(devices + "/node/online")) {
    for (const unsigned cpu : cpus_in(devices + "/node/node" + std::to_string(node) + "/cpulist")) {
      if (cpu < places_.size()) places_[cpu].node = node;
    }
  }
  flat_ = std::all_of(online.begin(), online.end(), [&](unsigned cpu) {
    return between(online.front(), cpu) == nearness::same_cache;
  });
}

const cpu_map& cpu_map::of_this_machine() {
  static const cpu_map map;
  return map;
}

cpu_map::place cpu_map::place_of(unsigned cpu) const noexcept {
  return cpu < places_.size() ? places_[cpu] : place{};
}

nearness cpu_map::between(unsigned cpu, unsigned other) const noexcept {
  const place a = place_of(cpu);
  const place b = place_of(other);
  if (a.node != b.node) return nearness::elsewhere;
  return a.cache == b.cache ? nearness::same_cache : nearness::same_node;
}

}  // namespace weft::base
