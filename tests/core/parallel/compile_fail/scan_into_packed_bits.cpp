// expect: parallel_output
// expect: elements_are_objects
#include <vector>

#include <weft/core/parallel/scan.hpp>

#ifdef CORRECTED
using flags = std::vector<char>;
#else
using flags = std::vector<bool>;
#endif

void seen_so_far(const std::vector<bool>& found, flags& out) {
  weft::parallel_inclusive_scan(found, out.begin(), false, std::logical_or<>{});
}
