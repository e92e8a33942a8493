#include <weft/io/socket_wait.hpp>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include <weft/core/errors.hpp>

#include "io/io_thread.hpp"
#include "io/socket_state.hpp"

namespace weft::io {

bool socket_wait::suspend(coro::promise_base& waiter) noexcept {
  task = &waiter;
  io_thread& thread = state_->thread();
  if (thread.is_here()) return start_here(waiter.waiting());
  began_ = waiter.waiting().begin(*this);
  if (!began_) return false;
  std::construct_at(&start_);
  start_.to = this;
  start_.call = [](detail::job& self, detail::job_fate /*fate*/) noexcept {
    static_cast<note&>(self).to->start_note_came();
  };
  thread.post(start_);  // the frame may be gone
  return true;
}

// What is done at once was never waited for. And nothing can end before this returns, so whoever
// calls it off may be let in after it was started.
bool socket_wait::start_here(coro::wait_state& waiting) noexcept {
  if (waiting.is_stopped()) return false;
  start();
  if (at_ == phase::over) return false;
  began_ = waiting.begin(*this);
  if (!began_) {
    cancel_came_ = true;
    state_->cancel(*this);
  }
  return true;
}

void socket_wait::start() noexcept {
  at_ = phase::started;
  is_starting_ = true;
  if (cancel_came_) {
    result = -ECANCELED;
    done();
  } else {
    state_->start(*this);
  }
  is_starting_ = false;
}

void socket_wait::start_note_came() noexcept {
  start();
  if (at_ == phase::over && !awaits_note()) go_on();
}

void socket_wait::give_up(detail::job_list& /*released*/) noexcept {
  cancel_sent_ = true;
  std::construct_at(&cancel_);
  cancel_.to = this;
  cancel_.call = [](detail::job& self, detail::job_fate /*fate*/) noexcept {
    static_cast<note&>(self).to->cancel_note_came();
  };
  state_->thread().post(cancel_);
}

void socket_wait::cancel_note_came() noexcept {
  cancel_came_ = true;
  switch (at_) {
    case phase::fresh:
      return;  // start() sees it
    case phase::started:
      return state_->cancel(*this);
    case phase::over:
      return go_on();
  }
}

void socket_wait::done() noexcept {
  if (!is_complete()) {
    if (!cancel_came_ && !state_->is_closing()) return state_->start_again(*this);
    result = -ECANCELED;
  }
  state_->ended(*this);
  at_ = phase::over;
  // From here on nobody calls it off, and whoever has is heard of.
  if (began_) task->waiting().end();
  if (!is_starting_ && !awaits_note()) go_on();
}

// A completion is called by nobody who waits, so on its own thread the task goes on right here.
void socket_wait::go_on() noexcept {
  if (task->home().is_here()) {
    task->run();
  } else {
    task->post();
  }
}

const char* socket_wait::what() const noexcept {
  switch (asked) {
    case kind::receive:
      return "bytes from a socket";
    case kind::send:
      return "room in a socket";
    case kind::accept:
      return "a connection to come";
    case kind::connect:
      return "a connection to be made";
  }
  return "a socket";
}

int socket_wait::finish() const {
  if (is_empty_) return 0;
  if (at_ == phase::fresh) throw cancelled();
  if (result >= 0) return result;
  if (result == -ECANCELED && cancel_came_) throw cancelled();
  const auto doing = [this]() -> std::string {
    switch (asked) {
      case kind::receive:
        return "read from ";
      case kind::send:
        return "write to ";
      case kind::accept:
        return "accept on ";
      case kind::connect:
        return "connect to ";
    }
    return "";
  };
  std::string text = "weft: " + doing() + to_string(state_->name());
  switch (-result) {
    case EALREADY:
      throw std::logic_error(text +
                             ": another one is pending; a socket has one read and one write at a "
                             "time, so wait for that one first");
    case ECANCELED:
      text += ": the socket was closed meanwhile";
      break;
    case EBADF:
      text += ": the socket is closed";
      break;
    case EMFILE:
      text += ": no descriptor is left, the connection waits; close some, or raise ulimit -n";
      break;
    case ENOSPC:
      text += ": epoll watches no more sockets for this user; raise fs.epoll.max_user_watches";
      break;
    default:
      break;
  }
  throw std::system_error(-result, std::generic_category(), text);
}

bool send_wait::is_complete() noexcept {
  if (result < 0) return true;
  data = static_cast<std::byte*>(data) + result;
  size -= static_cast<std::size_t>(result);
  return size == 0;
}

}  // namespace weft::io
