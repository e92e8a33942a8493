#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

// How the I/O threads learn from the kernel that something has happened.
enum class io_engine : std::uint8_t {
  automatic,  // io_uring where the kernel allows it, else epoll
  epoll,
  io_uring,
};

[[nodiscard]] constexpr std::string_view to_string(io_engine engine) noexcept {
  switch (engine) {
    case io_engine::automatic:
      return "automatic";
    case io_engine::epoll:
      return "epoll";
    case io_engine::io_uring:
      return "io_uring";
  }
  return "unknown";
}

}  // namespace weft
