// A program written for Asio, moved onto Weft's work-stealing pool by changing one line.

#include <atomic>
#include <cstdio>
#include <functional>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <weft/io/asio.hpp>

namespace asio = boost::asio;

int main() {
  weft::hybrid_scheduler hs;

  // Before: asio::thread_pool threads;  auto executor = threads.get_executor();
  auto executor = weft::asio_executor(hs);

  // Plain handlers.
  std::atomic<int> handlers = 0;
  std::atomic<int> in_the_pool = 0;
  for (int i = 0; i < 1000; ++i) {
    asio::post(executor, [&] {
      if (weft::pool::current() == &hs.cpu_pool()) ++in_the_pool;
      ++handlers;
    });
  }

  // A strand: one at a time, although the pool has several workers.
  auto strand = asio::make_strand(executor);
  int ticks = 0;
  asio::steady_timer timer(strand);
  std::atomic<bool> done = false;
  std::function<void()> next = [&] {
    timer.expires_after(std::chrono::milliseconds(1));
    timer.async_wait([&](const boost::system::error_code& error) {
      if (!error && ++ticks < 5) return next();
      done = true;
      done.notify_one();
    });
  };
  next();

  done.wait(false);
  while (handlers < 1000) std::this_thread::yield();
  std::printf("%d handlers, %d of them in Weft's pool\n", handlers.load(), in_the_pool.load());
  std::printf("%d ticks of a timer in a strand\n", ticks);
}
