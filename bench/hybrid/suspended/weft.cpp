#include "config.hpp"

#include <weft/coro/async_event.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/when.hpp>

#include "../../support/countdown.hpp"
#include "../../support/weft.hpp"

namespace {

struct event {
  explicit event(std::size_t waiters) : not_waiting_yet(static_cast<long>(waiters)) {}
  weft::async_event happened;
  bench::countdown not_waiting_yet;
};

weft::task<> wait_for(event& e) {
  e.not_waiting_yet.arrive();
  co_await e.happened.wait();
}

weft::task<> wait_in_all(event& e, std::size_t count) {
  std::vector<weft::task<>> waiters;
  waiters.reserve(count);
  for (std::size_t i = 0; i < count; ++i) waiters.push_back(wait_for(e));
  co_await weft::when_all(std::move(waiters));
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  event e(hybrid_suspended::tasks(options));
  weft::future<void> all;
  hybrid_suspended::measure(
      options,
      [&](std::size_t count) {
        all = weft::spawn(runtime.pool(), wait_in_all(e, count));
        e.not_waiting_yet.wait();
      },
      [&] {
        e.happened.set();
        all.get();
      });
}
