#pragma once

#include <utility>

namespace weft {

namespace detail {

class worker;

// While it lives, the job that made it does not count as running: another one takes its seat.
class blocking_scope {
 public:
  blocking_scope() noexcept;
  ~blocking_scope();
  blocking_scope(const blocking_scope&) = delete;
  blocking_scope& operator=(const blocking_scope&) = delete;

 private:
  worker* worker_ = nullptr;  // null: outside pools, or inside another scope
  bool compensated_ = false;
};

}  // namespace detail

// Calls f, which may sleep: reads a file, waits for another process. In a job of a pool another job
// may run meanwhile, on a thread that is made if need be, up to pool_options::max_workers; beyond
// that, outside pools, and inside another blocking(), it is a plain call. Returns what f returns,
// throws what it throws.
template <class F>
decltype(auto) blocking(F&& f) {
  const detail::blocking_scope here;
  return std::forward<F>(f)();
}

}  // namespace weft
