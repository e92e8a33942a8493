#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::io {

struct reactor_socket;  // src/io/reactor.hpp

// What is asked of the engine of an I/O thread. Lives in the frame of the task that waits for it.
// Threads: that I/O thread.
class socket_operation {
 public:
  enum class kind : std::uint8_t { receive, send, accept, connect };

  socket_operation(const socket_operation&) = delete;
  socket_operation& operator=(const socket_operation&) = delete;

  // By the engine, once, when the result is there. The operation may be gone afterwards.
  virtual void done() noexcept = 0;

  kind asked;
  // The engine's: it was called off; it is in a list of the engine's.
  bool called_off = false;
  bool is_queued = false;
  int result = 0;              // 0 or more, as of the system call; or -errno
  std::uint32_t address_size;  // accept: in and out; connect: in
  reactor_socket* socket = nullptr;
  void* data;                        // receive, send: the bytes; accept, connect: the address
  std::size_t size;                  // of the bytes
  socket_operation* next = nullptr;  // the engine's

 protected:
  struct bytes {
    void* data;
    std::size_t size;
  };
  struct address {
    void* data;
    std::uint32_t size;
  };
  socket_operation(kind k, bytes b) noexcept
      : asked(k), address_size(0), data(b.data), size(b.size) {}
  socket_operation(kind k, address a) noexcept
      : asked(k), address_size(a.size), data(a.data), size(0) {}
  ~socket_operation() = default;
};

}  // namespace weft::io
