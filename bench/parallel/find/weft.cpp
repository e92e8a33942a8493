#include "config.hpp"

#include "../../support/weft.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  runtime.run([&] {
    find::measure(options, [](const std::int32_t* first, const std::int32_t* last) {
      return weft::parallel_find_if(first, last, find::is_match);
    });
  });
}
