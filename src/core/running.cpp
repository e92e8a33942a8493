#include <weft/core/running.hpp>

namespace weft::detail {

constinit thread_local running running::here;

}  // namespace weft::detail
