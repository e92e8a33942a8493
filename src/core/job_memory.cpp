#include <weft/core/job_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

namespace weft::detail {

constinit thread_local job_memory::shelf job_memory::shelves[classes];

namespace {

// Magazines that no thread has at hand, and all memory there is. Never destroyed: jobs may be freed
// until the process is gone.
class depot {
 public:
  static constexpr std::size_t class_count = 31;

  static depot& instance() {
    static depot& d = *new depot;
    return d;
  }

  // A magazine with blocks in it.
  job_magazine* take_filled(std::size_t size_class) {
    {
      const std::lock_guard lock(mutex_);
      if (job_magazine* m = take(filled_[size_class])) return m;
    }
    job_magazine* const m = take_empty();
    if (m == nullptr) throw std::bad_alloc();
    try {
      fill(*m, size_class);
    } catch (...) {
      put(m, size_class);
      throw;
    }
    return m;
  }
  // Null when there is no memory.
  job_magazine* take_empty() noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (job_magazine* m = take(empty_)) return m;
    }
    return new (std::nothrow) job_magazine;
  }
  void put(job_magazine* m, std::size_t size_class) noexcept {
    const std::lock_guard lock(mutex_);
    job_magazine*& list = m->count > 0 ? filled_[size_class] : empty_;
    m->next = std::exchange(list, m);
  }
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }
  void put_loose(void* memory, std::size_t size_class) noexcept {
    const std::lock_guard lock(mutex_);
    loose_[size_class] = new (memory) loose_block{loose_[size_class]};
  }

 private:
  struct loose_block {
    loose_block* next;
  };

  static job_magazine* take(job_magazine*& list) noexcept {
    job_magazine* const m = list;
    if (m != nullptr) list = m->next;
    return m;
  }

  // What job_memory::frame_class() puts together.
  static constexpr std::size_t size_of(std::size_t size_class) noexcept {
    if (size_class <= 24) return 64 + size_class * 8;
    if (size_class <= 28) return 256 + (size_class - 24) * 64;
    return 512 + (size_class - 28) * 256;
  }

  void fill(job_magazine& m, std::size_t size_class) {
    if (take_loose(m, size_class)) return;
    const std::size_t size = size_of(size_class);
    // A large magazine of large blocks would mostly lie idle.
    const auto blocks =
        static_cast<unsigned>(std::clamp<std::size_t>(32'768 / size, 32, job_magazine::capacity));
    constexpr std::size_t head = 64;  // links the chunks; keeps the blocks aligned
    auto* const chunk =
        static_cast<std::byte*>(::operator new(head + size * blocks, std::align_val_t(64)));
    {
      const std::lock_guard lock(mutex_);
      *reinterpret_cast<void**>(chunk) = std::exchange(chunks_, chunk);
    }
    for (; m.count < blocks; ++m.count) {
      m.blocks[m.count] = chunk + head + m.count * size;
    }
  }
  bool take_loose(job_magazine& m, std::size_t size_class) noexcept {
    const std::lock_guard lock(mutex_);
    for (loose_block*& first = loose_[size_class];
         first != nullptr && m.count < job_magazine::capacity; ++m.count) {
      m.blocks[m.count] = std::exchange(first, first->next);
    }
    return m.count > 0;
  }

  std::mutex mutex_;
  // Guarded by mutex_.
  job_magazine* filled_[class_count] = {};
  job_magazine* empty_ = nullptr;
  loose_block* loose_[class_count] = {};  // freed when there was no memory for a magazine
  void* chunks_ = nullptr;
};

}  // namespace

// Of a thread of the program that spawns or gets; workers give back by themselves.
void job_memory::give_back_at_thread_exit() noexcept {
  struct guard {
    bool armed = true;
    ~guard() { give_back(); }
  };
  static thread_local guard at_exit;
  static_cast<void>(at_exit.armed);
}

void job_memory::before_fork() noexcept { depot::instance().lock(); }
void job_memory::after_fork() noexcept { depot::instance().unlock(); }

void job_memory::reload(shelf& s, std::size_t size_class) {
  give_back_at_thread_exit();
  std::swap(s.current, s.reserve);
  if (s.current != nullptr && s.current->count > 0) return;
  job_magazine* const filled = depot::instance().take_filled(size_class);
  if (s.current != nullptr) depot::instance().put(s.current, size_class);
  s.current = filled;
  // Whoever filled it has its lines: ask for all of them now, not for one at every eighth job.
  for (std::size_t i = 0; i < filled->count; i += 8) {
    __builtin_prefetch(static_cast<const void*>(&filled->blocks[i]));
  }
}

bool job_memory::unload(shelf& s, std::size_t size_class) noexcept {
  give_back_at_thread_exit();
  std::swap(s.current, s.reserve);
  if (s.current != nullptr && s.current->count < job_magazine::capacity) return true;
  job_magazine* const empty = depot::instance().take_empty();
  if (empty == nullptr) return false;
  if (s.current != nullptr) depot::instance().put(s.current, size_class);
  s.current = empty;
  return true;
}

void job_memory::keep_loose(void* memory, std::size_t size_class) noexcept {
  depot::instance().put_loose(memory, size_class);
}

void job_memory::give_back() noexcept {
  for (std::size_t c = 0; c < classes; ++c) {
    for (job_magazine** m : {&shelves[c].current, &shelves[c].reserve}) {
      if (*m != nullptr) depot::instance().put(std::exchange(*m, nullptr), c);
    }
  }
}

}  // namespace weft::detail
