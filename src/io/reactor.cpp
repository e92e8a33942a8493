#include "io/reactor.hpp"

#include <cerrno>
#include <system_error>

namespace weft::io {

std::unique_ptr<reactor> make_reactor(io_engine engine) {
  return engine == io_engine::io_uring ? make_uring_reactor() : make_epoll_reactor();
}

#ifndef WEFT_HAS_LIBURING
std::unique_ptr<reactor> make_uring_reactor() {
  throw std::system_error(
      ENOSYS, std::generic_category(),
      "weft: the I/O engine io_uring was not built, because liburing was not found; install it and "
      "build Weft again, or choose io_engine::epoll in hybrid_options::engine");
}
#endif

}  // namespace weft::io
