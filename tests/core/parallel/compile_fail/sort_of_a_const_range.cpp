// expect: parallel_sortable
// expect: elements_can_be_assigned
#include <vector>

#include <weft/core/parallel/sort.hpp>

#ifdef CORRECTED
using numbers = std::vector<int>;
#else
using numbers = const std::vector<int>;
#endif

void sort(numbers& all) { weft::parallel_sort(all); }
