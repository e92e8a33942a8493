#include "config.hpp"

#include <omp.h>

#include <parallel/numeric>

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  omp_set_num_threads(options.threads);
  scan::measure(options, [](const std::int32_t* in, std::int32_t* out, std::size_t size) {
    __gnu_parallel::partial_sum(in, in + size, out);
  });
}
