#include "config.hpp"

#include <cstdlib>
#include <string>

#include "../../support/weft.hpp"

static void solve(std::size_t size, const loop::body& body) {
  weft::parallel_for(std::size_t{0}, size, body);
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  {
    bench::weft_runtime runtime(options.threads);
    runtime.run([&] { loop::measure(options, "time", solve); });
  }
  if (loop::is_short(options)) {
    setenv("WEFT_WORKERS", std::to_string(options.threads).c_str(), 1);  // For pool::global().
    loop::measure(options, "outside", solve);
  }
}
