#include <weft/base/topology.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/text.hpp"

namespace weft::base {
namespace {

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

}  // namespace

unsigned cpu_limit::usable() const noexcept {
  return std::max(1U, quota ? std::min(affinity, *quota) : affinity);
}

cpu_limit read_cpu_limit(const system_root& root) {
  cpu_limit limit;
  limit.affinity = count_affinity(root.affinity ? root.affinity : ask_kernel_for_affinity);
  limit.quotas = read_cpu_quotas(root.root);
  if (const cpu_quota* const least = tightest(limit.quotas)) limit.quota = least->whole_cpus();
  return limit;
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
