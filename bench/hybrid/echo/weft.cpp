#include "config.hpp"

#include "../../support/weft_io.hpp"

namespace {

using task = weft::task<>;

// Streams are made on the thread that uses them.
task serve(weft::hybrid_scheduler& scheduler, int socket) {
  co_await hybrid_echo::serve<task>(bench::weft_stream(scheduler, socket));
}
task request(weft::hybrid_scheduler& scheduler, int socket, std::span<double> round_trips_ms) {
  co_await hybrid_echo::request<task>(bench::weft_stream(scheduler, socket), round_trips_ms);
}

// The scheduler deals tasks out to its I/O threads in turn. With two of them, servers that are
// spawned in this order end up where server_thread() says.
std::size_t kth_server(std::size_t k) {
  return (k & ~std::size_t{3}) | (k & 1) << 1 | (k >> 1 & 1);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  hybrid_echo::measure(options, [&](const std::vector<bench::connection>& pairs,
                                    const std::vector<std::span<double>>& round_trips_ms) {
    weft::hybrid_scheduler scheduler(
        {.cpu_workers = 1, .io_threads = static_cast<unsigned>(options.threads)});
    std::vector<weft::spawned<void>> ends;
    for (std::size_t k = 0; k < pairs.size(); ++k)
      ends.push_back(scheduler.spawn_io(serve(scheduler, pairs[kth_server(k)].server)));
    for (std::size_t i = 0; i < pairs.size(); ++i)
      ends.push_back(scheduler.spawn_io(request(scheduler, pairs[i].client, round_trips_ms[i])));
    for (auto& end : ends) end.get();
  });
}
