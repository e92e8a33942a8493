#include "config.hpp"

#include <omp.h>

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  omp_set_num_threads(options.threads);
  skewed_loop::measure(options, [](int items, const skewed_loop::body& body) {
#pragma omp parallel for firstprivate(body) schedule(dynamic)
    for (int i = 0; i < items; ++i) body(i);
  });
}
