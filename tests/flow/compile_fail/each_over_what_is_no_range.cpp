// expect: the items of each(place, items, f) must be a forward range
#include <vector>

#include <weft/flow/each.hpp>

weft::task<> all(weft::pool& p, const std::vector<int>& numbers) {
#ifdef CORRECTED
  co_await weft::each(p, numbers, [](int) {});
#else
  co_await weft::each(p, numbers.size(), [](int) {});
#endif
}
