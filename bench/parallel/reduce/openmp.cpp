#include "config.hpp"

#include <omp.h>

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  omp_set_num_threads(options.threads);
  reduce::measure(options, [](const std::int32_t* first, const std::int32_t* last) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (const std::int32_t* value = first; value < last; ++value) sum += *value;
    return sum;
  });
}
