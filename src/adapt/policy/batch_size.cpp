#include <weft/adapt/policy/batch_size.hpp>

#include <algorithm>

namespace weft::adapt {
namespace {

unsigned most_for(std::size_t rules, unsigned workers) noexcept {
  if (rules <= 1) return 1;
  if (rules <= 3) return 2;
  if (rules <= 10) return 4;
  if (rules <= 50) return 8;
  return workers;
}

}  // namespace

sizing batch_size(std::size_t rules, unsigned workers) noexcept {
  const unsigned all = std::max(1U, workers);
  return {.workers = std::min(all, most_for(rules, all)),
          .reason = sizing_reason::batch_size,
          .before = all,
          .measured = static_cast<double>(rules),
          .compared = 0};
}

}  // namespace weft::adapt
