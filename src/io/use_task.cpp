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
  std::shared_ptr<request> asked;
  boost::asio::any_io_executor where;
  {
    const std::lock_guard lock(mutex_);
    is_started_ = true;
    if (is_completed_) return false;
    if (!is_given_up_) return true;
    asked = make_request();
    where = where_;
  }
  send(asked, where);
  return true;
}

void asio_wait::not_started() noexcept {
  static_cast<void>(close());
  task->waiting().end();
  began_ = false;
}

bool asio_wait::close() noexcept {
  const std::lock_guard lock(mutex_);
  is_completed_ = true;
  // Under both locks: where the initiating call has not returned, it goes on as soon as it sees
  // that this is completed.
  if (request_ != nullptr) {
    const std::lock_guard asked(request_->mutex);
    request_->operation = nullptr;
  }
  return is_started_;
}

void asio_wait::completed() noexcept {
  if (!close()) return;
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

// Before the operation has started there is nothing that could be cancelled: started() does it.
void asio_wait::give_up(detail::job_list& /*released*/) noexcept {
  std::shared_ptr<request> asked;
  {
    const std::lock_guard lock(mutex_);
    is_given_up_ = true;
    if (is_completed_ || !is_started_) return;
    asked = make_request();
  }
  send(asked, where_);
}

std::shared_ptr<asio_wait::request> asio_wait::make_request() {
  request_ = std::make_shared<request>();
  request_->operation = this;
  return request_;
}

void asio_wait::send(const std::shared_ptr<request>& asked,
                     const boost::asio::any_io_executor& where) noexcept {
  if (!where) return;
  try {
    boost::asio::post(where, [asked] {
      const std::lock_guard lock(asked->mutex);
      if (asked->operation == nullptr) return;
      asked->operation->signal_.emit(boost::asio::cancellation_type::terminal);
    });
  } catch (const std::exception&) {
    return;  // the executor takes no more, so the operation ends by itself or not at all
  }
}

}  // namespace weft::io
