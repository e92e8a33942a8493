#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::adapt {

// Why a policy wants this many workers. The figures of a sizing mean what is said here; items are
// what the workers work through.
enum class sizing_reason : std::uint8_t {
  started,        // measured: usable CPUs
  no_demand,      // nothing was waiting, so the window says nothing
  not_in_force,   // measured: the workers during the window, which were not those asked for
  measuring,      // measured, compared: items finished, items needed to judge
  settled,        // measured: items a second
  growing,        // measured, compared: share of the usable CPUs in use, usable CPUs
  growth_kept,    // measured, compared: items a second now and before
  growth_undone,  // as growth_kept
  probing_down,   // measured: items a second
  probe_kept,     // measured, compared: items a second now and before
  probe_undone,   // as probe_kept
  work_changed,   // as growth_kept: far more or less than noise explains
  machine_busy,   // measured, compared: CPU use of the machine and its threshold, in percent
  at_bounds,      // the bounds allow nothing else

  settling,      // an added worker has not run long enough to be measured
  cooling_down,  // the last worker was added too recently
  unmeasured,    // there is no reading of the resource to go by
  worker_added,  // measured, compared: projected use and what it must stay below, in percent
  no_headroom,   // as worker_added

  batch_size,  // measured: rules in the batch
};

[[nodiscard]] std::string_view name(sizing_reason reason) noexcept;

// How many workers a policy wants, and why.
struct sizing {
  unsigned workers = 1;
  sizing_reason reason = sizing_reason::started;
  unsigned before = 1;  // workers until now
  double measured = 0;  // what was looked at, and what it was compared with: see sizing_reason
  double compared = 0;
};

// One sentence with the figures, such as "4 to 8 workers: they keep 40 % of 2 CPUs busy".
[[nodiscard]] std::string explain(const sizing& s);

}  // namespace weft::adapt
