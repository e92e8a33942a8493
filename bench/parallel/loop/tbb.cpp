#include "config.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "../../support/tbb.hpp"

static void solve(std::size_t size, const loop::body& body) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, size), [=](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) body(i);
  });
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] { loop::measure(options, "time", solve); });
  // In the arena that the main thread has anyway, which never has more threads than there are
  // cores.
  if (loop::is_short(options)) loop::measure(options, "outside", solve);
}
