// The smallest useful program: fork, join, run in a pool.

// [readme]
#include <cstdio>
#include <weft/weft.hpp>

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = weft::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

int main() {
  weft::pool pool;  // as many workers as this process may use
  const long answer = pool.run([] { return fib(30); });
  std::printf("fib(30) = %ld\n", answer);
}
// [/readme]
