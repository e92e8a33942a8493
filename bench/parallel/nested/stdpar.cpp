#include "config.hpp"

#include <algorithm>
#include <execution>
#include <numeric>
#include <vector>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  std::vector<std::size_t> indices(1'000);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  runtime.run([&] {
    nested::measure(options, [&](std::size_t rows, const loop::body& body) {
      std::for_each(
          std::execution::par, indices.data(), indices.data() + rows, [=](std::size_t row) {
            const float* const first = body.x + row * nested::columns;
            std::transform(std::execution::par, first, first + nested::columns,
                           body.y + row * nested::columns,
                           [shift = body.shift](float x) { return loop::value_of(x, shift); });
          });
    });
  });
}
