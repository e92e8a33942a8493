#include <weft/flow/join_rule.hpp>

namespace weft {

join_rule n_of(std::size_t n, rest r) noexcept {
  join_rule rule;
  rule.values_ = n;
  rule.rest_ = r;
  return rule;
}

}  // namespace weft
