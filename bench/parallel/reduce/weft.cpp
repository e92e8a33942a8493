#include "config.hpp"

#include "../../support/weft.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  runtime.run([&] {
    reduce::measure(options, [](const std::int32_t* first, const std::int32_t* last) {
      return weft::parallel_reduce(first, last, 0L);
    });
  });
}
