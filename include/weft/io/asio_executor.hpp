#pragma once

#include <utility>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <weft/core/pool.hpp>

namespace weft {

class hybrid_scheduler;

// An Asio executor on the CPU lane of a hybrid scheduler: handlers run on the work-stealing pool,
// and I/O objects made with it wait on the scheduler's I/O threads.
//
//   boost::asio::ip::tcp::socket socket(weft::asio_executor(hs));
//
// Handlers run side by side; where that matters use
// boost::asio::make_strand(weft::asio_executor(hs)). A handler that throws ends up in on_unhandled.
// Threads: any. Errors: execute() throws pool_stopped after shutdown. Lifetime: the scheduler
// outlives it and everything made with it.
class pool_executor {
 public:
  pool_executor(pool& p, boost::asio::io_context& context) noexcept
      : pool_(&p), context_(&context) {}

  template <class F>
  void execute(F&& f) const {
    pool_->spawn([f = std::decay_t<F>(std::forward<F>(f))]() mutable { std::move(f)(); });
  }

  [[nodiscard]] boost::asio::execution_context& query(
      boost::asio::execution::context_t /*what*/) const noexcept {
    return *context_;
  }
  [[nodiscard]] static constexpr boost::asio::execution::blocking_t query(
      boost::asio::execution::blocking_t /*what*/) noexcept {
    return boost::asio::execution::blocking.never;
  }
  // The scheduler lives until it is shut down, with work or without.
  [[nodiscard]] static constexpr boost::asio::execution::outstanding_work_t query(
      boost::asio::execution::outstanding_work_t /*what*/) noexcept {
    return boost::asio::execution::outstanding_work.untracked;
  }

  friend bool operator==(const pool_executor&, const pool_executor&) noexcept = default;

 private:
  pool* pool_;
  boost::asio::io_context* context_;
};

// Where the engine is io_uring, this and io_executor() start a thread for Asio beside an I/O thread
// when they are first used, and throw std::system_error when that cannot start.
[[nodiscard]] pool_executor asio_executor(hybrid_scheduler& hs);

// The executor of one of the scheduler's I/O threads: of this one, or of the next in turn. Objects
// made with it complete there, and tasks of that lane go on without a hop; with io_uring they
// complete on the thread beside it.
[[nodiscard]] boost::asio::io_context::executor_type io_executor(hybrid_scheduler& hs);

}  // namespace weft
