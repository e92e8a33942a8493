#include "config.hpp"

#include "../support/openmp.hpp"

static long fib_of(int n) {
  if (n < 2) return n;
  long a = 0;
#pragma omp task shared(a)
  a = fib_of(n - 1);
  const long b = fib_of(n - 2);
#pragma omp taskwait
  return a + b;
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::openmp_runtime runtime(options.threads);
  fib::measure(options, [&](int n) {
    long result = 0;
    runtime.run([&] { result = fib_of(n); });
    return result;
  });
}
