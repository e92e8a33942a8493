#include "config.hpp"

#include "../support/openmp.hpp"

static std::uint64_t sum(int first, int last) {
  if (last - first == 1) return skew::item(first);
  const int middle = first + (last - first) / 2;
  std::uint64_t a = 0;
#pragma omp task shared(a) firstprivate(first, middle)
  a = sum(first, middle);
  const auto b = sum(middle, last);
#pragma omp taskwait
  return a + b;
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::openmp_runtime runtime(options.threads);
  skew::measure(options, [&](int first, int last) {
    std::uint64_t result = 0;
    runtime.run([&] { result = sum(first, last); });
    return result;
  });
}
