#include "config.hpp"

static long fib_of(int n) {
  if (n < 2) return n;
  return fib_of(n - 1) + fib_of(n - 2);
}

int main(int argc, char** argv) { fib::measure(bench::parse(argc, argv), fib_of); }
