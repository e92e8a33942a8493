#include "config.hpp"

#include <span>

#include "../../support/weft.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  runtime.run([&] {
    scan::measure(options, [](const std::int32_t* in, std::int32_t* out, std::size_t size) {
      weft::parallel_inclusive_scan(std::span(in, size), out, std::int32_t{0});
    });
  });
}
