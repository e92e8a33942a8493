#include "config.hpp"

#include <boost/asio/experimental/concurrent_channel.hpp>

#include "../../support/asio.hpp"

namespace {

namespace asio = bench::asio;

class channel {
 public:
  explicit channel(const asio::any_io_executor& executor) : channel_(executor, 1) {}

  auto send(int number) {
    return channel_.async_send(boost::system::error_code{}, number, asio::use_awaitable);
  }
  auto receive() { return channel_.async_receive(asio::use_awaitable); }

 private:
  asio::experimental::concurrent_channel<void(boost::system::error_code, int)> channel_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::laps laps(options);
  bench::asio_pool runtime(options.threads);
  channel there(runtime.executor());
  channel back(runtime.executor());
  using task = asio::awaitable<void>;
  auto pong =
      asio::co_spawn(runtime.executor(), hybrid_hop::pong<task>(there, back), asio::use_future);
  asio::co_spawn(runtime.executor(), hybrid_hop::ping<task>(laps, there, back), asio::use_future)
      .get();
  pong.get();
  hybrid_hop::report(laps);
}
