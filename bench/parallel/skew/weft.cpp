#include "config.hpp"

#include "../../support/weft.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  runtime.run([&] {
    skewed_loop::measure(options, [](int items, const skewed_loop::body& body) {
      weft::parallel_for(0, items, body);
    });
  });
}
