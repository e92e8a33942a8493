// expect: indirect_unary_predicate
#include <vector>

#include <weft/core/parallel/find.hpp>

auto find(const std::vector<int>& numbers) {
#ifdef CORRECTED
  return weft::parallel_find_if(numbers, [](int x) { return x > 3; });
#else
  return weft::parallel_find_if(numbers, [](int) {});
#endif
}
