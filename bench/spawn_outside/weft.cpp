#include "config.hpp"

#include "../support/weft.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  spawn_outside::measure(options, runtime);
}
