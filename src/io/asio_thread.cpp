#include "io/asio_thread.hpp"

#include <system_error>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include "io/quiet_thread.hpp"

namespace weft::io {

struct asio_thread::state {
  boost::asio::io_context context{1};  // used by one thread, posted to by many
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::thread thread;
};

asio_thread::asio_thread(const std::string& name) try : state_(std::make_unique<state>()) {
  state_->thread = start_quiet_thread(name, [s = state_.get()]() noexcept { s->context.run(); });
} catch (const boost::system::system_error& e) {
  throw std::system_error(e.code(),
                          "weft: the thread for Asio cannot start; it needs descriptors for epoll, "
                          "a timer and an event (ulimit -n)");
}

asio_thread::~asio_thread() {
  state_->context.stop();
  state_->thread.join();
}

boost::asio::io_context& asio_thread::context() noexcept { return state_->context; }

}  // namespace weft::io
