#include "config.hpp"

#include <algorithm>
#include <execution>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] {
    skewed_loop::measure(options, [](int items, const skewed_loop::body& body) {
      std::for_each(std::execution::par, body.results, body.results + items,
                    [=](std::uint64_t& result) { body(static_cast<int>(&result - body.results)); });
    });
  });
}
