#include <cstdio>

#include <boost/asio/steady_timer.hpp>

#include <weft/io/asio.hpp>

weft::task<int> wait_and_crunch(weft::hybrid_scheduler& hs) {
  boost::asio::steady_timer timer(weft::io_executor(hs), std::chrono::milliseconds(1));
  co_await timer.async_wait(weft::use_task);
  co_await hs.cpu();
  co_return 42;
}

int main() {
  weft::hybrid_scheduler hs;
  std::printf("%d\n", hs.spawn(wait_and_crunch(hs)).get());
}
