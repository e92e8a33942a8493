#pragma once

#include <weft/base/cpu_map.hpp>

namespace weft::detail {

// The order in which a worker looks at the others: those that share its cache first, then those
// that share its memory, then the rest; within each kind a ring with a random start. `cpu_of(i)` is
// where worker i was seen last. Ends when `visit(i)` returns true.
template <class CpuOf, class Visit>
void visit_victims(const base::cpu_map& map, unsigned self, unsigned count, unsigned start,
                   CpuOf cpu_of, Visit visit) {
  const auto ring = [&](auto is_due) {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned victim = (start + i) % count;
      if (victim != self && is_due(victim) && visit(victim)) return true;
    }
    return false;
  };
  if (map.is_flat()) {
    ring([](unsigned) { return true; });
    return;
  }
  const unsigned here = cpu_of(self);
  for (const auto kind :
       {base::nearness::same_cache, base::nearness::same_node, base::nearness::elsewhere}) {
    if (ring([&](unsigned victim) { return map.between(here, cpu_of(victim)) == kind; })) return;
  }
}

}  // namespace weft::detail
