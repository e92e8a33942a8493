#include "config.hpp"

#include <weft/coro/sync_wait.hpp>
#include <weft/coro/when.hpp>

#include "../../support/weft.hpp"

namespace {

template <class Instance>
weft::task<> run_one(Instance instance) {
  instance();
  co_return;
}

template <class Instance>
weft::task<> run_all(int count, Instance instance) {
  std::vector<weft::task<>> instances;
  for (int i = 0; i < count; ++i) instances.push_back(run_one(instance));
  co_await weft::when_all(std::move(instances));
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  hybrid_busy::measure(options, [&](int count, auto instance) {
    weft::sync_wait(runtime.pool(), run_all(count, instance));
  });
}
