#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "options.hpp"

namespace bench {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// Without this, a small request may wait for the acknowledgement of the one before it.
inline void send_at_once(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

inline void make_nonblocking(int descriptor) {
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

// A listening socket on a port that the system chooses.
inline int listen_on_loopback() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = loopback(0);
  if (listener < 0 ||
      bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, SOMAXCONN) != 0)
    fail("cannot listen on the loopback interface");
  return listener;
}

inline std::uint16_t port_of(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

inline int connect_to_loopback(std::uint16_t port) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = loopback(port);
  if (client < 0 ||
      connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail("cannot connect over the loopback interface");
  send_at_once(client);
  return client;
}

// The two ends of a connection, both non-blocking. Whoever gets one closes it.
struct connection {
  int client;
  int server;
};

inline std::vector<connection> connect_pairs(std::size_t count) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < 2 * count + 100) skip("the system does not allow this many descriptors");
  const int listener = listen_on_loopback();
  std::vector<connection> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    const int client = connect_to_loopback(port_of(listener));
    const int server = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (server < 0) fail("cannot accept over the loopback interface");
    send_at_once(server);
    make_nonblocking(client);
    make_nonblocking(server);
    pairs.push_back({client, server});
  }
  close(listener);
  return pairs;
}

}  // namespace bench
