#include "../sort/config.hpp"

#include <omp.h>

#include <parallel/algorithm>

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  omp_set_num_threads(options.threads);
  sort::measure(options,
                [](auto& values) { __gnu_parallel::stable_sort(values.begin(), values.end()); });
}
