#include "config.hpp"

#include <execution>
#include <numeric>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] {
    reduce::measure(options, [](const std::int32_t* first, const std::int32_t* last) {
      return std::reduce(std::execution::par, first, last, 0L);
    });
  });
}
