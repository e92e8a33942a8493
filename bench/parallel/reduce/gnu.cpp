#include "config.hpp"

#include <functional>

#include <omp.h>

#include <parallel/numeric>

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  omp_set_num_threads(options.threads);
  reduce::measure(options, [](const std::int32_t* first, const std::int32_t* last) {
    // Without the operation, it would add up the threads' sums as if they were elements: in 32
    // bits.
    return __gnu_parallel::accumulate(first, last, 0L, std::plus<>{});
  });
}
