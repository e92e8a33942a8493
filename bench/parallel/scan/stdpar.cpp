#include "config.hpp"

#include <execution>
#include <numeric>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] {
    scan::measure(options, [](const std::int32_t* in, std::int32_t* out, std::size_t size) {
      std::inclusive_scan(std::execution::par, in, in + size, out);
    });
  });
}
