#include "config.hpp"

#include <weft/coro/channel.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/when.hpp>

#include "../../support/weft.hpp"

namespace {

weft::task<> ping_pong(bench::laps& laps) {
  weft::channel<int> there(1);
  weft::channel<int> back(1);
  co_await weft::when_all(hybrid_hop::ping<weft::task<>>(laps, there, back),
                          hybrid_hop::pong<weft::task<>>(there, back));
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  bench::laps laps(options);
  weft::sync_wait(runtime.pool(), ping_pong(laps));
  hybrid_hop::report(laps);
}
