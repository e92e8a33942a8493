#include "config.hpp"

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  hybrid_busy::measure(options, [&](int count, auto instance) {
    runtime.scope([&](auto spawn) {
      for (int i = 0; i < count; ++i) spawn(instance);
    });
  });
}
