#include "config.hpp"

#include <weft/coro/timer_queue.hpp>
#include <weft/coro/when.hpp>
#include <weft/io/hybrid.hpp>

namespace {

// Every thread-th of them, as every context of Asio has its share.
weft::task<> sleep_share(std::vector<double>& late_ms, std::size_t thread, std::size_t threads) {
  const auto sleep = [](std::chrono::milliseconds length) { return weft::sleep_for(length); };
  std::vector<weft::task<>> sleepers;
  sleepers.reserve(late_ms.size() / threads + 1);
  for (std::size_t i = thread; i < late_ms.size(); i += threads)
    sleepers.push_back(hybrid_timers::sleep_once<weft::task<>>(sleep, late_ms[i]));
  co_await weft::when_all(std::move(sleepers));
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const auto threads = static_cast<std::size_t>(options.threads);
  hybrid_timers::measure([&](std::vector<double>& late_ms) {
    weft::hybrid_options with;
    with.cpu_workers = 1;
    with.io_threads = static_cast<unsigned>(threads);
    weft::hybrid_scheduler scheduler(with);
    std::vector<weft::spawned<void>> shares;
    shares.reserve(threads);
    // Dealt out to the I/O threads in turn.
    for (std::size_t thread = 0; thread < threads; ++thread)
      shares.push_back(scheduler.spawn_io(sleep_share(late_ms, thread, threads)));
    for (auto& share : shares) share.get();
  });
}
