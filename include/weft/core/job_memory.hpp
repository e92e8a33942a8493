#pragma once

#include <cstddef>
#include <new>

#if defined(__has_feature)
#define WEFT_CLANG_SANITIZES (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define WEFT_CLANG_SANITIZES 0
#endif

namespace weft::detail {

// Free blocks of one size, passed between threads as a whole.
struct job_magazine {
  static constexpr unsigned capacity = 254;

  job_magazine* next = nullptr;  // in the depot
  unsigned count = 0;
  void* blocks[capacity];
};

// Where the memory of queued jobs and of coroutine frames comes from: small blocks, passed between
// threads by the magazine. One thread spawns and another one frees, so blocks travel; moving 254 of
// them at a time keeps both ends free of atomics, and the lock of the depot out of the 99th
// percentile.
//
// Threads: any. A block may be freed by another thread than the one that took it.
// Memory: blocks are used again, and never go back to the system.
class job_memory {
 public:
  // A job fills its cache lines alone: its neighbour may be in use on another core.
  static void* operator new(std::size_t size) { return take(size, job_class(size)); }
  static void operator delete(void* memory, std::size_t size) noexcept {
    put(memory, size, job_class(size));
  }

  // A frame takes no more than it needs: there may be a million that wait.
  static void* take_frame(std::size_t size) { return take(size, frame_class(size)); }
  static void put_frame(void* memory, std::size_t size) noexcept {
    put(memory, size, frame_class(size));
  }

  // Over-aligned jobs are rare, and not pooled.
  static void* operator new(std::size_t size, std::align_val_t alignment) {
    return ::operator new(size, alignment);
  }
  static void operator delete(void* memory, std::size_t size, std::align_val_t alignment) noexcept {
    ::operator delete(memory, size, alignment);
  }

  // Around fork(): the child must not inherit a lock that another thread held.
  static void before_fork() noexcept;
  static void after_fork() noexcept;

  // Hands what this thread has at hand to the others. Called when a thread ends.
  static void give_back() noexcept;

 private:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || WEFT_CLANG_SANITIZES || \
    defined(WEFT_MODEL_CHECK)
  static constexpr bool pooled = false;  // a block used after its job must be seen
#else
  static constexpr bool pooled = true;
#endif
  // Sizes of blocks: 64 to 256 by 8, to 512 by 64, to 1024 by 256. A block whose size is no
  // multiple of 16 need not be aligned to 16, for neither is what has that size.
  static constexpr std::size_t classes = 31;
  static constexpr std::size_t largest = 1024;
  static constexpr unsigned ahead = 8;
  static constexpr std::size_t frame_class(std::size_t size) noexcept {
    if (size <= 64) return 0;
    if (size <= 256) return (size - 64 + 7) / 8;
    if (size <= 512) return 24 + (size - 256 + 63) / 64;
    return 28 + (size - 512 + 255) / 256;
  }
  static constexpr std::size_t job_class(std::size_t size) noexcept {
    return frame_class((size + 63) / 64 * 64);
  }

  static void* take(std::size_t size, std::size_t size_class) {
    if (!pooled || size > largest) return ::operator new(size);
    shelf& s = shelves[size_class];
    if (s.current == nullptr || s.current->count == 0) [[unlikely]]
      reload(s, size_class);
    job_magazine& m = *s.current;
    void* const block = m.blocks[--m.count];
    // Whoever freed the block next to come has it in its cache: ask for it now.
    if (m.count >= ahead) __builtin_prefetch(m.blocks[m.count - ahead], 1);
    return block;
  }

  static void put(void* memory, std::size_t size, std::size_t size_class) noexcept {
    if (!pooled || size > largest) return ::operator delete(memory, size);
    shelf& s = shelves[size_class];
    if (s.current == nullptr || s.current->count == job_magazine::capacity) [[unlikely]] {
      if (!unload(s, size_class)) return keep_loose(memory, size_class);
    }
    s.current->blocks[s.current->count++] = memory;
  }

  // What a thread has at hand of one size.
  struct shelf {
    job_magazine* current = nullptr;
    job_magazine* reserve = nullptr;  // the one used before: full, or empty, or none
  };

  static void give_back_at_thread_exit() noexcept;
  [[gnu::cold]] static void reload(shelf& s, std::size_t size_class);
  // False when there is no memory for a magazine to put blocks into.
  [[gnu::cold]] static bool unload(shelf& s, std::size_t size_class) noexcept;
  [[gnu::cold]] static void keep_loose(void* memory, std::size_t size_class) noexcept;

  static constinit thread_local shelf shelves[classes] __attribute__((tls_model("initial-exec")));
};

}  // namespace weft::detail
