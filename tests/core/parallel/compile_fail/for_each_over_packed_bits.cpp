// expect: parallel_range
// expect: elements_are_no_packed_bits
#include <vector>

#include <weft/core/parallel/for.hpp>

#ifdef CORRECTED
using flags = std::vector<char>;
#else
using flags = std::vector<bool>;
#endif

void clear(flags& all) {
  weft::parallel_for_each(all, [](auto&& flag) { flag = false; });
}
