#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio.hpp>

#include "countdown.hpp"

namespace bench {

namespace asio = boost::asio;

// Asio's pool of threads around one queue.
class asio_pool {
 public:
  explicit asio_pool(int threads) : pool_(static_cast<std::size_t>(threads)) {}
  ~asio_pool() { pool_.join(); }
  asio_pool(const asio_pool&) = delete;
  asio_pool& operator=(const asio_pool&) = delete;

  template <class F>
  void spawn(F f) {
    asio::post(pool_, std::move(f));
  }

  [[nodiscard]] auto executor() { return pool_.get_executor(); }

 private:
  asio::thread_pool pool_;
};

// A context for each thread, none shared: what Asio's author advises for I/O.
class asio_contexts {
 public:
  explicit asio_contexts(int threads) {
    for (int i = 0; i < threads; ++i) contexts_.push_back(std::make_unique<asio::io_context>(1));
  }

  [[nodiscard]] asio::io_context& of(std::size_t thread) { return *contexts_[thread]; }

  // Runs each in a thread of its own until it has nothing left to do.
  void run() {
    std::vector<std::jthread> threads;
    for (auto& context : contexts_) threads.emplace_back([&context] { context->run(); });
  }

 private:
  std::vector<std::unique_ptr<asio::io_context>> contexts_;
};

// A connected socket as the works of `hybrid` use it.
class asio_stream {
 public:
  asio_stream(asio::io_context& context, int descriptor)
      : socket_(context, asio::ip::tcp::v4(), descriptor) {}

  // At least one byte, 0 at the end of the stream.
  auto read_some(std::span<char> into) {
    return socket_.async_read_some(asio::buffer(into.data(), into.size()),
                                   asio::redirect_error(asio::use_awaitable, error_));
  }

  auto write(std::span<const char> from) {
    return asio::async_write(socket_, asio::buffer(from.data(), from.size()), asio::use_awaitable);
  }

 private:
  asio::ip::tcp::socket socket_;
  boost::system::error_code error_;
};

}  // namespace bench
