#include "../sort/config.hpp"

#include "../../support/weft.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  runtime.run(
      [&] { sort::measure(options, [](auto& values) { weft::parallel_stable_sort(values); }); });
}
