#include "config.hpp"

#include <weft/coro/sync_wait.hpp>
#include <weft/coro/when.hpp>

#include "../../support/weft.hpp"

namespace {

weft::task<> instance() { co_return; }

weft::task<> spawn_and_join(bench::laps& laps) {
  while (laps.next()) {
    std::vector<weft::task<>> instances;
    instances.reserve(hybrid_spawn_join::instances);
    for (std::size_t i = 0; i < hybrid_spawn_join::instances; ++i) instances.push_back(instance());
    co_await weft::when_all(std::move(instances));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  bench::laps laps(options);
  weft::sync_wait(runtime.pool(), spawn_and_join(laps));
  hybrid_spawn_join::report(laps);
}
