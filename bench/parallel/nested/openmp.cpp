#include "config.hpp"

#include <omp.h>

// Inside a parallel loop OpenMP runs this one with one thread, unless told otherwise.
static void solve_row(std::size_t row, const loop::body& body) {
#pragma omp parallel for firstprivate(body)
  for (std::size_t i = 0; i < nested::columns; ++i) body(row * nested::columns + i);
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  omp_set_num_threads(options.threads);
  nested::measure(options, [](std::size_t rows, const loop::body& body) {
#pragma omp parallel for firstprivate(body)
    for (std::size_t row = 0; row < rows; ++row) solve_row(row, body);
  });
}
