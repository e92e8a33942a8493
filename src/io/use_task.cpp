#include <weft/io/use_task.hpp>

namespace weft::io {

bool asio_wait::begin(coro::promise_base& waiter, boost::asio::any_io_executor where) noexcept {
  task = &waiter;
  where_ = std::move(where);
  began_ = waiter.waiting().begin(*this);
  return began_;
}

// The handler may run on another thread before the operation's own call has returned, so the one
// that comes second goes on with the task.
bool asio_wait::started() noexcept {
  const std::lock_guard lock(mutex_);
  is_started_ = true;
  return !is_completed_;
}

void asio_wait::completed() noexcept {
  std::shared_ptr<request> asked;
  bool goes_on = false;
  {
    const std::lock_guard lock(mutex_);
    is_completed_ = true;
    asked = std::move(request_);
    goes_on = is_started_;
  }
  if (asked != nullptr) {
    const std::lock_guard lock(asked->mutex);
    asked->operation = nullptr;
  }
  if (!goes_on) return;
  // On the thread of its lane it goes on right here: a completion is called by nobody who waits.
  if (task->home().is_here()) {
    task->run();
  } else {
    task->post();
  }
}

bool asio_wait::finish() noexcept {
  if (began_) task->waiting().end();
  return began_;
}

void asio_wait::give_up(detail::job_list& /*released*/) noexcept {
  std::shared_ptr<request> asked;
  {
    const std::lock_guard lock(mutex_);
    if (is_completed_ || !where_) return;
    asked = request_ = std::make_shared<request>();
    asked->operation = this;
  }
  boost::asio::post(where_, [asked] {
    const std::lock_guard lock(asked->mutex);
    if (asked->operation == nullptr) return;
    asked->operation->signal_.emit(boost::asio::cancellation_type::terminal);
  });
}

}  // namespace weft::io
