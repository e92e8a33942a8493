#include "config.hpp"

#include <algorithm>
#include <execution>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] {
    sort::measure(options, [](auto& values) {
      std::sort(std::execution::par, values.begin(), values.end());
    });
  });
}
