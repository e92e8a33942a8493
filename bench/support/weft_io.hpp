#pragma once

#include <coroutine>
#include <cstddef>
#include <span>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <weft/io/asio.hpp>

namespace bench {

// A connected socket as the works of `hybrid` use it, on the I/O thread that makes it.
class weft_stream {
 public:
  weft_stream(weft::hybrid_scheduler& scheduler, int descriptor)
      : socket_(weft::io_executor(scheduler), boost::asio::ip::tcp::v4(), descriptor) {}

  // At least one byte, 0 at the end of the stream.
  auto read_some(std::span<char> into) {
    return reading{socket_.async_read_some(boost::asio::buffer(into.data(), into.size()),
                                           boost::asio::as_tuple(weft::use_task))};
  }

  auto write(std::span<const char> from) {
    return boost::asio::async_write(socket_, boost::asio::buffer(from.data(), from.size()),
                                    weft::use_task);
  }

 private:
  // The end of the stream is an error for Asio, and no exception here.
  template <class Operation>
  struct reading {
    Operation operation;
    [[nodiscard]] bool await_ready() noexcept { return operation.await_ready(); }
    template <class Promise>
    [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> waiter) {
      return operation.await_suspend(waiter);
    }
    std::size_t await_resume() {
      const auto [error, size] = operation.await_resume();
      return error ? 0 : size;
    }
  };

  boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>
      socket_;
};

}  // namespace bench
