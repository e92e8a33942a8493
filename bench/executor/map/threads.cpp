// By hand: a pool around one queue, a packaged task for each item, futures taken in order.

#include <deque>
#include <future>
#include <memory>

#include "config.hpp"

#include "../../support/central_pool.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::central_pool pool(options.threads);
  const std::size_t look_ahead =
      executor_map::look_ahead_per_thread * static_cast<std::size_t>(options.threads);
  executor_map::measure(options, [&](std::size_t items, executor_map::body f) {
    executor_map::checksum sum;
    std::deque<std::future<std::uint64_t>> results;
    for (std::size_t next = 0; next < items || !results.empty();) {
      while (next < items && results.size() < look_ahead) {
        // std::function must be copyable and a task is not.
        auto task = std::make_shared<std::packaged_task<std::uint64_t()>>(
            [f, index = next++] { return f(index); });
        results.push_back(task->get_future());
        pool.submit([task] { (*task)(); });
      }
      sum.add(results.front().get());
      results.pop_front();
    }
    return sum.value();
  });
}
