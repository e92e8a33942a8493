#include "config.hpp"

#include "../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  spawn_inside::measure(options, runtime);
}
