#include "config.hpp"

#include "../support/tbb.hpp"

static long fib_of(int n) {
  if (n < 2) return n;
  long a = 0;
  tbb::task_group group;
  group.run([&] { a = fib_of(n - 1); });
  const long b = fib_of(n - 2);
  group.wait();
  return a + b;
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  fib::measure(options, [&](int n) { return runtime.run([=] { return fib_of(n); }); });
}
