#include "io/address.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <weft/base/utf8.hpp>

namespace weft::io {

socket_address to_address(const endpoint& e) {
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;  // asks no server
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string text(e.address);
  const bool is_text = !text.empty() && text.find('\0') == std::string::npos;
  const int error =
      is_text ? ::getaddrinfo(text.c_str(), std::to_string(e.port).c_str(), &wanted, &found)
              : EAI_NONAME;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  socket_address address;
  if (error != 0 || found->ai_addrlen > sizeof address.bytes) {
    throw std::invalid_argument(
        "weft: io::endpoint::address is \"" + base::printable(text) +
        "\", which is no numeric IPv4 or IPv6 address; look names up in the blocking lane "
        "(hs.spawn_blocking with getaddrinfo) and give the address that it finds");
  }
  std::memcpy(&address.bytes, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  return address;
}

std::uint16_t port_of(const socket_address& a) noexcept {
  return ntohs(a.bytes.sin6_port);  // IPv4 has it in the same place
}

std::string to_string(const socket_address& a) {
  std::array<char, INET6_ADDRSTRLEN + 1 + IF_NAMESIZE> host{};
  if (::getnameinfo(a.get(), a.size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "an unknown address";
  }
  const std::string text =
      a.family() == AF_INET6 ? "[" + std::string(host.data()) + "]" : host.data();
  return text + ":" + std::to_string(port_of(a));
}

}  // namespace weft::io
