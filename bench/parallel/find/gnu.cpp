#include "config.hpp"

#include <omp.h>

#include <parallel/algorithm>

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  omp_set_num_threads(options.threads);
  find::measure(options, [](const std::int32_t* first, const std::int32_t* last) {
    return __gnu_parallel::find_if(first, last, find::is_match);
  });
}
