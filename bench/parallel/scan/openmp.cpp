#include "config.hpp"

#include <omp.h>

// GCC 12 warns of the temporaries it makes for `inscan` itself.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  omp_set_num_threads(options.threads);
  scan::measure(options, [](const std::int32_t* in, std::int32_t* out, std::size_t size) {
    std::int32_t sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
    for (std::size_t i = 0; i < size; ++i) {
      sum += in[i];
#pragma omp scan inclusive(sum)
      out[i] = sum;
    }
  });
}
