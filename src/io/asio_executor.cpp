#include <weft/io/asio_executor.hpp>

#include "io/scheduler.hpp"

namespace weft {

pool_executor asio_executor(hybrid_scheduler& hs) {
  io::scheduler& s = scheduler_of(hs);
  return pool_executor(s.cpu(), s.io().context());
}

boost::asio::io_context::executor_type io_executor(hybrid_scheduler& hs) {
  return scheduler_of(hs).io().context().get_executor();
}

}  // namespace weft
