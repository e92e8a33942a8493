// expect: parallel_range
// expect: random_access_range
#include <list>
#include <vector>

#include <weft/core/parallel/for.hpp>

#ifdef CORRECTED
using numbers = std::vector<int>;
#else
using numbers = std::list<int>;
#endif

void twice(numbers& all) {
  weft::parallel_for_each(all, [](int& x) { x *= 2; });
}
