// expect: the body of each(place, items, f) must be callable as f(item) or f(std::stop_token, item)
#include <stop_token>
#include <vector>

#include <weft/flow/each.hpp>

weft::task<> all(weft::pool& p, const std::vector<int>& numbers) {
#ifdef CORRECTED
  co_await weft::each(p, numbers, [](std::stop_token, int) {});
#else
  co_await weft::each(p, numbers, [](int, std::stop_token) {});
#endif
}
