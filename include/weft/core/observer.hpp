#pragma once

#include <cstdint>

namespace weft {

// Is told what the workers of a pool do: the seam through which traces are made.
//
// Install one with pool_options::observer. Without one, each place below costs one predictable
// branch. Forks that nobody steals are plain calls and are not reported.
//
// Threads: called on the worker's own thread, several workers at once. `worker` is its index.
// Errors: must not throw. Blocks: whatever it does delays the worker.
// Lifetime: must outlive the pool.
class observer {
 public:
  virtual ~observer() = default;

  virtual void job_begins(unsigned /*worker*/) noexcept {}
  virtual void job_ends(unsigned /*worker*/) noexcept {}
  virtual void job_stolen(unsigned /*thief*/, unsigned /*victim*/) noexcept {}
  virtual void worker_sleeps(unsigned /*worker*/) noexcept {}
  virtual void worker_wakes(unsigned /*worker*/) noexcept {}
};

}  // namespace weft
