#include "config.hpp"

#include "../../support/asio.hpp"

int main(int argc, char** argv) {
  namespace asio = bench::asio;
  const auto options = bench::parse(argc, argv);
  bench::laps laps(options);
  asio::io_context context(1);
  const auto yield = [&] { return asio::post(context, asio::use_awaitable); };
  asio::co_spawn(context, hybrid_yield::yield_often<asio::awaitable<void>>(laps, yield),
                 asio::detached);
  context.run();
  hybrid_yield::report(laps);
}
