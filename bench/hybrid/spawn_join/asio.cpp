#include "config.hpp"

#include <boost/asio/experimental/concurrent_channel.hpp>

#include "../../support/asio.hpp"

namespace {

namespace asio = bench::asio;

asio::awaitable<void> instance() { co_return; }

// The last instance to end sends the signal that the parent waits for.
asio::awaitable<void> spawn_and_join(bench::laps& laps) {
  const auto executor = co_await asio::this_coro::executor;
  asio::experimental::concurrent_channel<void(boost::system::error_code)> all_done(executor, 1);
  while (laps.next()) {
    std::atomic<std::size_t> left = hybrid_spawn_join::instances;
    for (std::size_t i = 0; i < hybrid_spawn_join::instances; ++i) {
      asio::co_spawn(executor, instance(), [&](const std::exception_ptr&) {
        if (--left == 0) all_done.try_send(boost::system::error_code{});
      });
    }
    co_await all_done.async_receive(asio::use_awaitable);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::asio_pool runtime(options.threads);
  bench::laps laps(options);
  asio::co_spawn(runtime.executor(), spawn_and_join(laps), asio::use_future).get();
  hybrid_spawn_join::report(laps);
}
