#include "config.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] {
    skewed_loop::measure(options, [](int items, const skewed_loop::body& body) {
      tbb::parallel_for(tbb::blocked_range<int>(0, items), [=](const auto& range) {
        for (int i = range.begin(); i < range.end(); ++i) body(i);
      });
    });
  });
}
