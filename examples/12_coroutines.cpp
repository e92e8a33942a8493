// Tasks: coroutines that wait without holding a thread, side by side, and stop when asked.

#include <chrono>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include <weft/weft.hpp>

using namespace std::chrono_literals;

namespace {

// [readme]
weft::task<std::string> fetch(std::string host) {
  co_await weft::sleep_for(5ms);  // stands for a network; holds no thread
  co_return "page of " + host;
}

weft::task<std::size_t> both() {
  auto [a, b] = co_await weft::when_all(fetch("a.example"), fetch("b.example"));
  co_return a.size() + b.size();
}
// [/readme]

weft::task<std::string> slow_mirror() {
  try {
    co_await weft::sleep_for(1h);
  } catch (const weft::cancelled&) {
    std::printf("the slow mirror was called away\n");
    throw;
  }
  co_return "never";
}

weft::task<> produce(weft::channel<int>& numbers) {
  for (int i = 1; i <= 5; ++i) co_await numbers.send(i);
  numbers.close();
}

weft::task<int> consume(weft::channel<int>& numbers) {
  int sum = 0;
  while (auto n = co_await numbers.receive()) sum += *n;
  co_return sum;
}

weft::task<int> pipeline() {
  weft::channel<int> numbers(2);
  auto [nothing, sum] = co_await weft::when_all(produce(numbers), consume(numbers));
  co_return sum;
}

}  // namespace

int main() {
  weft::pool pool({.workers = 2});

  std::printf("two pages, %zu characters\n", weft::sync_wait(pool, both()));

  auto first = weft::sync_wait(pool, [](auto mirror, auto slow) -> weft::task<std::string> {
    auto page = co_await weft::when_any(mirror("fast.example"), slow());
    co_return std::get<0>(page);
  }(fetch, slow_mirror));
  std::printf("%s came first\n", first.c_str());

  std::printf("sum through a channel: %d\n", weft::sync_wait(pool, pipeline()));

  // A future of a task can be asked to stop, and so can whatever it waits for.
  auto endless = weft::spawn(pool, []() -> weft::task<> { co_await weft::sleep_for(1h); }());
  endless.request_stop();
  try {
    endless.get();
  } catch (const weft::cancelled& e) {
    std::printf("%s\n", e.what());
  }
}
