#include "config.hpp"

#include "../support/weft.hpp"

static long fib_of(int n) {
  if (n < 2) return n;
  auto [a, b] = weft::join([=] { return fib_of(n - 1); }, [=] { return fib_of(n - 2); });
  return a + b;
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  fib::measure(options, [&](int n) { return runtime.run([=] { return fib_of(n); }); });
}
