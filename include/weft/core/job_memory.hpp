#pragma once

#include <cstddef>
#include <new>

namespace weft::detail {

// Free blocks of one size that a thread has at hand: a magazine it works with, and a full one in
// reserve. Blocks are linked through their first word.
struct job_magazine {
  static constexpr unsigned capacity = 128;

  void* current = nullptr;
  unsigned count = 0;      // blocks in current
  void* reserve = nullptr;  // capacity blocks, or none
};

// Where the memory of queued jobs comes from: small blocks, passed between threads by the magazine.
// One thread spawns and another one frees, so blocks travel; moving 128 of them at a time keeps
// both ends free of atomics, and the lock of the depot out of the 99th percentile.
//
// Threads: any. A block may be freed by another thread than the one that took it.
class job_memory {
 public:
  static void* operator new(std::size_t size) {
    if (pooled && size <= largest) {
      job_magazine& m = magazines[size_class(size)];
      if (m.count == 0) [[unlikely]] reload(size_class(size));
      --m.count;
      return pop(m);
    }
    return ::operator new(size);
  }

  static void operator delete(void* memory, std::size_t size) noexcept {
    if (pooled && size <= largest) {
      job_magazine& m = magazines[size_class(size)];
      if (m.count == job_magazine::capacity) [[unlikely]] unload(size_class(size));
      *static_cast<void**>(memory) = m.current;
      m.current = memory;
      ++m.count;
      return;
    }
    ::operator delete(memory, size);
  }

  // Hands what this thread has at hand to the others. Called when a thread ends.
  static void give_back() noexcept;

 private:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool pooled = false;  // a block used after its job must be seen
#else
  static constexpr bool pooled = true;
#endif
  static constexpr std::size_t classes = 2;
  static constexpr std::size_t largest = 128;
  static constexpr std::size_t size_class(std::size_t size) noexcept { return size <= 64 ? 0 : 1; }
  static void* pop(job_magazine& m) noexcept {
    void* const block = m.current;
    m.current = *static_cast<void**>(block);
    return block;
  }

  [[gnu::cold]] static void reload(std::size_t size_class);
  [[gnu::cold]] static void unload(std::size_t size_class) noexcept;

  static constinit thread_local job_magazine magazines[classes]
      __attribute__((tls_model("initial-exec")));
};

}  // namespace weft::detail
