#include "config.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "../../support/tbb.hpp"

using range = tbb::blocked_range<std::size_t>;

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] {
    nested::measure(options, [](std::size_t rows, const loop::body& body) {
      tbb::parallel_for(range(0, rows), [=](const range& some) {
        for (std::size_t row = some.begin(); row < some.end(); ++row) {
          tbb::parallel_for(range(0, nested::columns), [=](const range& part) {
            for (std::size_t i = part.begin(); i < part.end(); ++i) {
              body(row * nested::columns + i);
            }
          });
        }
      });
    });
  });
}
