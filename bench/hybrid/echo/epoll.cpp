// A floor: coroutines straight on epoll, a loop for each thread.

#include <sys/epoll.h>

#include <cerrno>
#include <coroutine>
#include <memory>
#include <utility>

#include "loops.hpp"

namespace {

class epoll_loop {
 public:
  // Edge-triggered and registered once: a socket is known to be readable from an event until a read
  // that gets less than it asked for.
  struct watched {
    int socket;
    bool readable = false;
    std::coroutine_handle<> reader;
  };

  class stream_of_loop {
   public:
    stream_of_loop(epoll_loop& loop, int socket)
        : loop_(&loop), state_(std::make_unique<watched>(watched{socket, false, {}})) {
      loop.add(*state_);
    }
    stream_of_loop(stream_of_loop&&) = default;
    ~stream_of_loop() {
      if (!state_) return;
      close(state_->socket);
      --loop_->streams_;
    }

    struct reading {
      watched& state;
      std::span<char> into;
      bool await_ready() noexcept { return state.readable; }
      void await_suspend(std::coroutine_handle<> self) noexcept { state.reader = self; }
      std::size_t await_resume() {
        const auto size = recv(state.socket, into.data(), into.size(), 0);
        if (size < 0) bench::fail("hybrid_echo: recv failed");
        if (static_cast<std::size_t>(size) < into.size()) state.readable = false;
        return static_cast<std::size_t>(size);
      }
    };
    reading read_some(std::span<char> into) { return {*state_, into}; }

    // A socket's buffer always has room for the one message that is on its way.
    std::suspend_never write(std::span<const char> from) {
      const auto size = send(state_->socket, from.data(), from.size(), MSG_NOSIGNAL);
      if (size != static_cast<ssize_t>(from.size())) bench::fail("hybrid_echo: send failed");
      return {};
    }

   private:
    epoll_loop* loop_;
    std::unique_ptr<watched> state_;
  };

  epoll_loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}
  epoll_loop(const epoll_loop&) = delete;
  epoll_loop& operator=(const epoll_loop&) = delete;
  ~epoll_loop() { close(epoll_); }

  stream_of_loop stream(int socket) { return {*this, socket}; }

  void run() {
    std::array<epoll_event, 256> events;
    while (streams_ > 0) {
      const int count = epoll_wait(epoll_, events.data(), events.size(), -1);
      for (int i = 0; i < count; ++i) {
        auto& state = *static_cast<watched*>(events[static_cast<std::size_t>(i)].data.ptr);
        state.readable = true;
        if (state.reader) std::exchange(state.reader, nullptr).resume();
      }
    }
  }

 private:
  void add(watched& state) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
    event.data.ptr = &state;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, state.socket, &event) != 0)
      bench::fail("hybrid_echo: epoll_ctl failed");
    ++streams_;
  }

  int epoll_;
  long streams_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  hybrid_echo::measure_loops<epoll_loop>(bench::parse(argc, argv));
}
