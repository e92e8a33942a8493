#include "config.hpp"

#include <weft/coro/channel.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/when.hpp>

#include "../../support/countdown.hpp"
#include "../../support/weft.hpp"

namespace {

// A channel that nobody sends to: closing it is the event.
using event = weft::channel<char>;

weft::task<> wait_for(event& happened, bench::countdown& waiting) {
  waiting.arrive();
  co_await happened.receive();
}

weft::task<> wait_in_all(std::size_t count, event& happened, bench::countdown& waiting) {
  std::vector<weft::task<>> waiters;
  waiters.reserve(count);
  for (std::size_t i = 0; i < count; ++i) waiters.push_back(wait_for(happened, waiting));
  co_await weft::when_all(std::move(waiters));
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  event happened(0);
  weft::future<void> all;
  hybrid_suspended::measure(
      options,
      [&](std::size_t count) {
        bench::countdown waiting(static_cast<long>(count));
        all = weft::spawn(runtime.pool(), wait_in_all(count, happened, waiting));
        waiting.wait();
      },
      [&] {
        happened.close();
        all.get();
      });
}
