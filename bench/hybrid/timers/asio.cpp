#include "config.hpp"

#include "../../support/asio.hpp"

namespace {

namespace asio = bench::asio;

// Lives in the frame of its coroutine, as a timer does in a program.
class sleeper {
 public:
  explicit sleeper(asio::io_context& context) : timer_(context) {}
  auto operator()(std::chrono::milliseconds length) {
    timer_.expires_after(length);
    return timer_.async_wait(asio::use_awaitable);
  }

 private:
  asio::steady_timer timer_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const auto threads = static_cast<std::size_t>(options.threads);
  hybrid_timers::measure([&](std::vector<double>& late_ms) {
    bench::asio_contexts contexts(options.threads);
    for (std::size_t thread = 0; thread < threads; ++thread) {
      asio::io_context& own = contexts.of(thread);
      asio::post(own, [&own, &late_ms, thread, threads] {
        for (std::size_t i = thread; i < late_ms.size(); i += threads) {
          asio::co_spawn(own,
                         hybrid_timers::sleep_once<asio::awaitable<void>>(sleeper(own), late_ms[i]),
                         asio::detached);
        }
      });
    }
    contexts.run();
  });
}
