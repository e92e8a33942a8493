#include "config.hpp"

#include <tbb/parallel_sort.h>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] {
    sort::measure(options, [](auto& values) { tbb::parallel_sort(values.begin(), values.end()); });
  });
}
