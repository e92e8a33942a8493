// expect: the body of times<N>(place, f) must be callable as f(), f(index)
#include <string>

#include <weft/flow/each.hpp>

weft::task<> all(weft::pool& p) {
#ifdef CORRECTED
  co_await weft::times<3>(p, [] {});
#else
  co_await weft::times<3>(p, [](const std::string&) {});
#endif
}
