#include <weft/core/asymmetric_fence.hpp>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::detail {
namespace {

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0U, 0); }

}  // namespace

bool asymmetric_fences_work() noexcept {
  static const bool registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  return registered;
}

void heavy_fence() noexcept {
  // Also the fence of this thread itself, and all there is where membarrier is refused. An exchange
  // rather than atomic_thread_fence: ThreadSanitizer does not model fences.
  std::atomic<int> here{0};
  here.exchange(1, std::memory_order_seq_cst);
  if (asymmetric_fences_work()) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

}  // namespace weft::detail
