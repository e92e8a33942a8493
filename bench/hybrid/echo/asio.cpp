#include "config.hpp"

#include "../../support/asio.hpp"

int main(int argc, char** argv) {
  namespace asio = bench::asio;
  using task = asio::awaitable<void>;
  const auto options = bench::parse(argc, argv);
  hybrid_echo::measure(options, [&](const std::vector<bench::connection>& pairs,
                                    const std::vector<std::span<double>>& round_trips_ms) {
    bench::asio_contexts contexts(options.threads);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      auto& server = contexts.of(hybrid_echo::server_thread(i, options.threads));
      auto& client = contexts.of(hybrid_echo::client_thread(i, options.threads));
      asio::co_spawn(server, hybrid_echo::serve<task>(bench::asio_stream(server, pairs[i].server)),
                     asio::detached);
      asio::co_spawn(client,
                     hybrid_echo::request<task>(bench::asio_stream(client, pairs[i].client),
                                                round_trips_ms[i]),
                     asio::detached);
    }
    contexts.run();
  });
}
