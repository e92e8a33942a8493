#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include <weft/io/endpoint.hpp>

namespace weft::io {

// An endpoint as the kernel wants it.
struct socket_address {
  // Big enough for both families.
  sockaddr_in6 bytes{};
  socklen_t size = sizeof(sockaddr_in6);

  [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&bytes); }
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&bytes);
  }
  [[nodiscard]] int family() const noexcept { return bytes.sin6_family; }
};

// Throws std::invalid_argument when the address is not numeric.
[[nodiscard]] socket_address to_address(const endpoint& e);
[[nodiscard]] std::uint16_t port_of(const socket_address& a) noexcept;
// For people: 127.0.0.1:80, [::1]:80.
[[nodiscard]] std::string to_string(const socket_address& a);

}  // namespace weft::io
