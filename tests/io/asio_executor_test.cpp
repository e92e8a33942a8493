#include <weft/io/asio_executor.hpp>

#include <latch>

#include <gtest/gtest.h>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <weft/io/asio.hpp>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

static_assert(asio::execution::is_executor_v<weft::pool_executor>);
static_assert(std::is_constructible_v<asio::any_io_executor, weft::pool_executor>);

TEST(AsioExecutor, RunsHandlersInThePool) {
  weft::hybrid_scheduler hs;
  std::latch done(1);
  bool in_pool = false;
  asio::post(weft::asio_executor(hs), [&] {
    in_pool = weft::pool::current() == &hs.cpu_pool();
    done.count_down();
  });
  done.wait();
  EXPECT_TRUE(in_pool);
}

TEST(AsioExecutor, RunsTheCompletionsOfItsObjectsInThePool) {
  weft::hybrid_scheduler hs;
  asio::any_io_executor erased = weft::asio_executor(hs);
  asio::steady_timer timer(erased, 1ms);
  std::latch done(1);
  bool in_pool = false;
  timer.async_wait([&](const boost::system::error_code&) {
    in_pool = weft::pool::current() == &hs.cpu_pool();
    done.count_down();
  });
  done.wait();
  EXPECT_TRUE(in_pool);
}

TEST(AsioExecutor, AStrandRunsOneHandlerAtATime) {
  weft::hybrid_scheduler hs({.cpu_workers = 4});
  auto strand = asio::make_strand(weft::asio_executor(hs));
  int plain = 0;  // not atomic: the strand must order it
  constexpr int count = 10'000;
  std::latch done(count);
  for (int i = 0; i < count; ++i) {
    asio::post(strand, [&] {
      ++plain;
      done.count_down();
    });
  }
  done.wait();
  EXPECT_EQ(plain, count);
}

TEST(AsioExecutor, EqualsItselfAndNotAnother) {
  weft::hybrid_scheduler a;
  weft::hybrid_scheduler b;
  EXPECT_EQ(weft::asio_executor(a), weft::asio_executor(a));
  EXPECT_NE(weft::asio_executor(a), weft::asio_executor(b));
}

}  // namespace
