#include <weft/io/use_task.hpp>

#include <latch>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>

#include <weft/coro/timer_queue.hpp>
#include <weft/io/asio.hpp>

namespace {

using namespace std::chrono_literals;
using boost::system::error_code;
using weft::hybrid_scheduler;
using weft::task;
namespace asio = boost::asio;

// An operation that does what the test wants when it is started.
template <class Start>
struct initiation {
  using executor_type = asio::io_context::executor_type;
  [[nodiscard]] executor_type get_executor() const noexcept { return executor; }
  template <class Handler>
  void operator()(Handler handler) {
    start(std::move(handler));
  }
  executor_type executor;
  Start start;
};
template <class Start>
auto async_custom(hybrid_scheduler& hs, Start start) {
  auto token = weft::use_task;
  return asio::async_initiate<weft::use_task_t, void(error_code)>(
      initiation<Start>{weft::io_executor(hs), std::move(start)}, token);
}

task<int> wait_for_ever_as_tuple(hybrid_scheduler& hs) {
  asio::steady_timer timer(weft::io_executor(hs), 1h);
  auto [error] = co_await timer.async_wait(asio::as_tuple(weft::use_task));
  co_return error == asio::error::operation_aborted ? 1 : 2;
}

TEST(UseTaskFaults, CancelsAnOperationWhoseTokenIsAdapted) {
  hybrid_scheduler hs;
  auto waits = hs.spawn(wait_for_ever_as_tuple(hs));
  while (hs.dump().find("an I/O operation") == std::string::npos) {
  }
  waits.request_stop();
  ASSERT_TRUE(waits.wait_for(30s));
  EXPECT_EQ(waits.get(), 1);
}

task<std::string> start_one_that_throws(hybrid_scheduler& hs) {
  std::string heard;
  try {
    co_await async_custom(hs, [](auto) { throw std::runtime_error("no thread for it"); });
  } catch (const std::runtime_error& e) {
    heard = e.what();
  }
  co_await weft::sleep_for(1ms);  // a task that still seemed to wait would be called away
  co_return heard;
}

TEST(UseTaskFaults, OperationThatCannotStartThrowsAndTheTaskGoesOn) {
  hybrid_scheduler hs;
  EXPECT_EQ(hs.spawn(start_one_that_throws(hs)).get(), "no thread for it");
}

// The request to stop reaches the I/O thread while the operation is being started on another one.
task<> stop_while_it_starts(hybrid_scheduler& hs, weft::spawned<void>*& self, std::latch& known) {
  co_await async_custom(hs, [&](auto handler) {
    known.wait();
    self->request_stop();
    std::latch handled(1);
    asio::post(weft::io_executor(hs), [&] { handled.count_down(); });
    handled.wait();
    auto slot = handler.get_cancellation_slot();
    slot.assign([&hs, handler](asio::cancellation_type) mutable {
      asio::post(weft::io_executor(hs),
                 [handler]() mutable { handler(error_code(asio::error::operation_aborted)); });
    });
  });
}

TEST(UseTaskFaults, StopRequestDuringTheStartIsNotLost) {
  hybrid_scheduler hs;
  weft::spawned<void>* self = nullptr;
  std::latch known(1);
  auto stops = hs.spawn_cpu(stop_while_it_starts(hs, self, known));
  self = &stops;
  known.count_down();
  while (!stops.ready()) {
  }
  EXPECT_THROW(stops.get(), weft::cancelled);
}

}  // namespace
