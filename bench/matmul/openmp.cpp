#include "config.hpp"

#include "../support/openmp.hpp"

static void multiply(matmul::product p) {
  if (p.is_leaf()) return matmul::multiply_leaf(p);
  for (const int phase : {0, 1}) {
#pragma omp task firstprivate(p, phase)
    multiply(p.part(phase, 0, 0));
#pragma omp task firstprivate(p, phase)
    multiply(p.part(phase, 0, 1));
#pragma omp task firstprivate(p, phase)
    multiply(p.part(phase, 1, 0));
    multiply(p.part(phase, 1, 1));
#pragma omp taskwait
  }
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::openmp_runtime runtime(options.threads);
  matmul::measure(options, [&](matmul::product p) { runtime.run([=] { multiply(p); }); });
}
