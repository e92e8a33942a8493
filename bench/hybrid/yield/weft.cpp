#include "config.hpp"

#include <weft/coro/schedule_on.hpp>
#include <weft/coro/sync_wait.hpp>

#include "../../support/weft.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  bench::laps laps(options);
  const auto yield = [] { return weft::yield(); };
  weft::sync_wait(runtime.pool(), hybrid_yield::yield_often<weft::task<>>(laps, yield));
  hybrid_yield::report(laps);
}
