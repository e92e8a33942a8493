#include <cstdio>
#include <weft/version.hpp>
#include <weft/weft.hpp>

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = weft::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

}  // namespace

int main() {
  weft::pool pool({.workers = 2});
  const long result = pool.run([] { return fib(20); });
  std::printf("weft %s: fib(20) = %ld\n", WEFT_VERSION, result);
}
