// expect: invocable<
// expect: parallel_for_each
#include <string>
#include <vector>

#include <weft/core/parallel/for.hpp>

void loop(std::vector<int>& numbers) {
#ifdef CORRECTED
  weft::parallel_for_each(numbers, [](int&) {});
#else
  weft::parallel_for_each(numbers, [](std::string&) {});
#endif
}
