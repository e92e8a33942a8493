// Asio has no event; a timer that never expires, and is cancelled, is what its users take.

#include "config.hpp"

#include "../../support/asio.hpp"

namespace {

namespace asio = bench::asio;

asio::awaitable<void> wait_for(asio::steady_timer& happened) {
  boost::system::error_code cancelled;
  co_await happened.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  asio::io_context context;
  asio::steady_timer happened(context, asio::steady_timer::time_point::max());
  hybrid_suspended::measure(
      options,
      [&](std::size_t count) {
        // Few at a time: what waits in the queue must not count as memory of what is suspended.
        constexpr std::size_t at_once = 100;
        for (std::size_t i = 0; i < count; ++i) {
          asio::co_spawn(context, wait_for(happened), asio::detached);
          if (i % at_once == at_once - 1) context.poll();
        }
        context.poll();
      },
      [&] {
        happened.cancel();
        std::vector<std::jthread> threads;
        for (int i = 0; i < options.threads; ++i) threads.emplace_back([&] { context.run(); });
      });
}
