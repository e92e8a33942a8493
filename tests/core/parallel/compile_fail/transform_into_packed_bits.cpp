// expect: parallel_output
// expect: elements_are_objects
#include <vector>

#include <weft/core/parallel/transform.hpp>

#ifdef CORRECTED
using flags = std::vector<char>;
#else
using flags = std::vector<bool>;
#endif

void mark(const std::vector<int>& numbers, flags& even) {
  weft::parallel_transform(numbers, even.begin(), [](int x) { return x % 2 == 0; });
}
