#include "config.hpp"

#include <algorithm>
#include <execution>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] {
    find::measure(options, [](const std::int32_t* first, const std::int32_t* last) {
      return std::find_if(std::execution::par, first, last, find::is_match);
    });
  });
}
