#include "config.hpp"

#include "../support/openmp.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::openmp_runtime runtime(options.threads);
  spawn_inside::measure(options, runtime);
}
