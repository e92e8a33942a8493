#pragma once

#include <memory>
#include <string>

namespace boost::asio {
class io_context;
}

namespace weft::io {

// A thread for Asio's objects, beside an I/O thread whose engine cannot serve them.
class asio_thread {
 public:
  // Throws std::system_error when Asio or the thread cannot start.
  explicit asio_thread(const std::string& name);
  ~asio_thread();
  asio_thread(const asio_thread&) = delete;
  asio_thread& operator=(const asio_thread&) = delete;

  [[nodiscard]] boost::asio::io_context& context() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace weft::io
