// The other side of `hybrid/mix`, a process of its own so that it is the same for every library: a
// plain epoll loop that sends back what it reads. Prints its port, and ends when its input does.

#include <sys/epoll.h>

#include <array>
#include <cstdio>

#include "sockets.hpp"

namespace {

void watch(int epoll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) bench::fail("epoll_ctl failed");
}

void echo(int client) {
  std::array<char, 4096> buffer;
  const auto size = recv(client, buffer.data(), buffer.size(), 0);
  if (size <= 0 ||
      send(client, buffer.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) != size)
    close(client);
}

}  // namespace

int main() {
  const int listener = bench::listen_on_loopback();
  std::printf("%d\n", bench::port_of(listener));
  std::fflush(stdout);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  watch(epoll, STDIN_FILENO);
  watch(epoll, listener);
  for (std::array<epoll_event, 64> events;;) {
    const int count = epoll_wait(epoll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      const int ready = events[static_cast<std::size_t>(i)].data.fd;
      if (ready == STDIN_FILENO) return 0;
      if (ready != listener) {
        echo(ready);
        continue;
      }
      const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      bench::send_at_once(client);
      watch(epoll, client);
    }
  }
}
