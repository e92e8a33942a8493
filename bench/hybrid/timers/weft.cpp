#include "config.hpp"

#include <weft/coro/sync_wait.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/coro/when.hpp>

#include "../../support/weft.hpp"

namespace {

weft::task<> sleep_all(std::vector<double>& late_ms) {
  const auto sleep = [](std::chrono::milliseconds length) { return weft::sleep_for(length); };
  std::vector<weft::task<>> sleepers;
  sleepers.reserve(late_ms.size());
  for (double& late : late_ms)
    sleepers.push_back(hybrid_timers::sleep_once<weft::task<>>(sleep, late));
  co_await weft::when_all(std::move(sleepers));
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  hybrid_timers::measure(
      [&](std::vector<double>& late_ms) { weft::sync_wait(runtime.pool(), sleep_all(late_ms)); });
}
