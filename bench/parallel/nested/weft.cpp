#include "config.hpp"

#include "../../support/weft.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  runtime.run([&] {
    nested::measure(options, [](std::size_t rows, const loop::body& body) {
      weft::parallel_for(std::size_t{0}, rows, [=](std::size_t row) {
        weft::parallel_for(std::size_t{0}, nested::columns,
                           [=](std::size_t i) { body(row * nested::columns + i); });
      });
    });
  });
}
