#include "config.hpp"

#include "../support/tbb.hpp"

static void multiply(matmul::product p) {
  if (p.is_leaf()) return matmul::multiply_leaf(p);
  for (const int phase : {0, 1}) {
    tbb::task_group group;
    group.run([=] { multiply(p.part(phase, 0, 0)); });
    group.run([=] { multiply(p.part(phase, 0, 1)); });
    group.run([=] { multiply(p.part(phase, 1, 0)); });
    multiply(p.part(phase, 1, 1));
    group.wait();
  }
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  matmul::measure(options, [&](matmul::product p) { runtime.run([=] { multiply(p); }); });
}
