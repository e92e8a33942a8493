#include "config.hpp"

#include <omp.h>

static void solve(std::size_t size, const loop::body& body) {
#pragma omp parallel for firstprivate(body)
  for (std::size_t i = 0; i < size; ++i) body(i);
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  omp_set_num_threads(options.threads);
  loop::measure(options, "time", solve);
  // There is no inside: a team begins and ends with its loop. Measured again all the same.
  if (loop::is_short(options)) loop::measure(options, "outside", solve);
}
