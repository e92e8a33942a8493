#include "config.hpp"

#include <algorithm>
#include <execution>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] {
    loop::measure(options, "time", [](std::size_t size, const loop::body& body) {
      std::transform(std::execution::par, body.x, body.x + size, body.y,
                     [shift = body.shift](float x) { return loop::value_of(x, shift); });
    });
  });
}
