#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <weft/core/errors.hpp>
#include <weft/coro/task.hpp>

namespace weft {

// The completion token that makes any Asio operation awaitable in a task:
//
//   std::size_t n = co_await socket.async_read_some(buffer, weft::use_task);
//
// The operation begins when it is awaited. Gives what the handler would get without its error_code,
// which is thrown as boost::system::system_error; with boost::asio::as_tuple(weft::use_task) it is
// part of the result. When the task is asked to stop the operation is cancelled, and throws
// weft::cancelled, unless it was done already.
// The task goes on in its own lane: at once if that is the thread on which the operation completes.
struct use_task_t {};
inline constexpr use_task_t use_task{};

namespace io {

// The part of an operation that does not depend on its types: who waits for it, and how it is
// cancelled. Asio wants an operation to be cancelled on the thread where it completes, so the
// request is sent there; it may arrive when the operation is gone.
class asio_wait : public coro::wait {
 public:
  asio_wait() = default;
  asio_wait(const asio_wait&) = delete;
  asio_wait& operator=(const asio_wait&) = delete;

 protected:
  ~asio_wait() = default;

  // False when the task was asked to stop: begin nothing.
  [[nodiscard]] bool begin(coro::promise_base& waiter, boost::asio::any_io_executor where) noexcept;
  // It could not be started, and never completes.
  void not_started() noexcept;
  // The operation has been started. True: suspend. The frame may be gone when this returns.
  [[nodiscard]] bool started() noexcept;
  // By the handler, when the results are stored. The frame may be gone when this returns.
  void completed() noexcept;
  // After the task has gone on. False: nothing was begun.
  [[nodiscard]] bool finish() noexcept;
  [[nodiscard]] bool was_stopped() const noexcept { return task->waiting().is_stopped(); }
  [[nodiscard]] boost::asio::cancellation_slot slot() noexcept { return signal_.slot(); }

 private:
  struct request {
    std::mutex mutex;
    asio_wait* operation = nullptr;  // guarded by mutex; null when it has completed
  };

  void give_up(detail::job_list& released) noexcept override;
  [[nodiscard]] const char* what() const noexcept override { return "an I/O operation"; }
  // Nobody cancels it from here on. Whether it was started.
  [[nodiscard]] bool close() noexcept;
  // With mutex_ held.
  [[nodiscard]] std::shared_ptr<request> make_request();
  // Without it, and without touching the operation, which may be gone.
  static void send(const std::shared_ptr<request>& asked,
                   const boost::asio::any_io_executor& where) noexcept;

  boost::asio::any_io_executor where_;
  boost::asio::cancellation_signal signal_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<request> request_;
  bool is_completed_ = false;
  bool is_started_ = false;
  bool is_given_up_ = false;
  bool began_ = false;
};

// What co_await gives for the arguments of a handler.
template <class... Args>
struct asio_result {
  static constexpr bool has_error = false;
  using values = std::tuple<Args...>;
  static values take(std::tuple<Args...>&& all) { return std::move(all); }
  static bool aborted(const std::tuple<Args...>& /*all*/) noexcept { return false; }
};
template <class... Rest>
struct asio_result<boost::system::error_code, Rest...> {
  using values = std::tuple<Rest...>;
  static values take(std::tuple<boost::system::error_code, Rest...>&& all) {
    if (std::get<0>(all)) throw boost::system::system_error(std::get<0>(all));
    return std::apply([](auto& /*error*/, auto&... rest) { return values(std::move(rest)...); },
                      all);
  }
  static bool aborted(const std::tuple<boost::system::error_code, Rest...>& all) noexcept {
    return std::get<0>(all) == boost::asio::error::operation_aborted;
  }
};
template <class... Rest>
struct asio_result<std::exception_ptr, Rest...> {
  using values = std::tuple<Rest...>;
  static values take(std::tuple<std::exception_ptr, Rest...>&& all) {
    if (std::get<0>(all)) std::rethrow_exception(std::get<0>(all));
    return std::apply([](auto& /*error*/, auto&... rest) { return values(std::move(rest)...); },
                      all);
  }
  static bool aborted(const std::tuple<std::exception_ptr, Rest...>& /*all*/) noexcept {
    return false;
  }
};

// Where an operation completes; empty when it does not say.
template <class Initiation>
boost::asio::any_io_executor executor_of(const Initiation& initiation) {
  if constexpr (requires { initiation.get_executor(); }) {
    return initiation.get_executor();
  } else if constexpr (requires { initiation.initiation_; }) {
    return executor_of(initiation.initiation_);  // as_tuple and its like wrap another one
  } else {
    return {};
  }
}

template <class Initiation, class InitArgs, class... Args>
class asio_operation final : public asio_wait {
 public:
  asio_operation(Initiation initiation, InitArgs args)
      : initiation_(std::move(initiation)), args_(std::move(args)) {}

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <coro::task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> waiter) {
    if (!this->begin(waiter.promise(), executor_of(initiation_))) return false;
    try {
      std::apply(
          [this](auto&... args) { std::move(initiation_)(handler{this}, std::move(args)...); },
          args_);
    } catch (...) {
      this->not_started();
      throw;
    }
    return this->started();
  }
  auto await_resume() {
    using result = asio_result<std::decay_t<Args>...>;
    if (!this->finish()) throw cancelled();
    if (result::aborted(*results_) && this->was_stopped()) throw cancelled();
    auto values = result::take(std::move(*results_));
    constexpr auto count = std::tuple_size_v<decltype(values)>;
    if constexpr (count == 1) {
      return std::get<0>(std::move(values));
    } else if constexpr (count > 1) {
      return values;
    }
  }

 private:
  struct handler {
    using cancellation_slot_type = boost::asio::cancellation_slot;
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
      return operation->slot();
    }
    void operator()(Args... args) {
      operation->results_.emplace(std::move(args)...);
      operation->completed();
    }
    asio_operation* operation;
  };

  Initiation initiation_;
  InitArgs args_;
  std::optional<std::tuple<std::decay_t<Args>...>> results_;
};

}  // namespace io
}  // namespace weft

template <class... Args>
class boost::asio::async_result<weft::use_task_t, void(Args...)> {
 public:
  template <class Initiation, class... InitArgs>
  static auto initiate(Initiation initiation, weft::use_task_t /*token*/, InitArgs... args) {
    return weft::io::asio_operation<Initiation, std::tuple<InitArgs...>, Args...>(
        std::move(initiation), std::tuple<InitArgs...>(std::move(args)...));
  }
};
