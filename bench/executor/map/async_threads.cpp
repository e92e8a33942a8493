// std::async for each item: a thread each, futures taken in order.

#include <deque>
#include <future>

#include "config.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const std::size_t look_ahead =
      executor_map::look_ahead_per_thread * static_cast<std::size_t>(options.threads);
  executor_map::measure(options, [&](std::size_t items, executor_map::body f) {
    if (items > 10'000) bench::skip("a thread for each of so many items");
    executor_map::checksum sum;
    std::deque<std::future<std::uint64_t>> results;
    for (std::size_t next = 0; next < items || !results.empty();) {
      while (next < items && results.size() < look_ahead) {
        results.push_back(std::async(std::launch::async, f, next++));
      }
      sum.add(results.front().get());
      results.pop_front();
    }
    return sum.value();
  });
}
