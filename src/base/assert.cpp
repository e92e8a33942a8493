#include <weft/base/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace weft::base {

void assertion_failed(const char* file, int line, const char* expression,
                      const char* message) noexcept {
  std::fprintf(stderr, "%s:%d: weft: assertion failed: %s\n  %s\n", file, line, expression,
               message);
  std::abort();
}

}  // namespace weft::base
