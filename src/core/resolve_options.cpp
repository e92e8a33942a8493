#include "resolve_options.hpp"

#include <limits.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <weft/base/topology.hpp>

namespace weft::detail {

static_assert(pool::workers_limit <= observer::workers_max);
namespace {

unsigned default_workers() {
  if (const char* text = std::getenv("WEFT_WORKERS")) {  // NOLINT(concurrency-mt-unsafe)
    const base::parsed_worker_count parsed = base::parse_worker_count(text, pool::workers_limit);
    if (!parsed.count) throw std::invalid_argument("weft: " + parsed.error);
    return *parsed.count;
  }
  return std::min(base::usable_cpus(), pool::workers_limit);
}

}  // namespace

void require_range(const char* what, std::size_t value, std::size_t low, std::size_t high,
                   const char* advice) {
  if (value >= low && value <= high) return;
  throw std::invalid_argument("weft: " + std::string(what) + " is " + std::to_string(value) +
                              ", but must be between " + std::to_string(low) + " and " +
                              std::to_string(high) + "; " + advice);
}

pool_options resolve_options(pool_options o) {
  if (o.deterministic_seed) o.workers = o.max_workers = 1;
  if (o.workers == 0) o.workers = default_workers();
  require_range("pool_options::workers", o.workers, 1, pool::workers_limit,
                "leave it 0 for as many as this process may use");
  if (o.max_workers == 0) o.max_workers = std::max(64U, o.workers);
  require_range("pool_options::max_workers", o.max_workers, o.workers, pool::workers_limit,
                "leave it 0 for a default");
  if (o.stack_size != 0) {
    require_range("pool_options::stack_size", o.stack_size,
                  static_cast<std::size_t>(PTHREAD_STACK_MIN), std::size_t{1} << 40,
                  "leave it 0 for the system's default");
  }
  o.yield_limit = std::max(o.yield_limit, 1U);  // the first yield is when busy owners are seized
  require_range("pool_options::nesting_limit", o.nesting_limit, 1, 1U << 16, "64 is the default");
  return o;
}

}  // namespace weft::detail
