#include <weft/core/job_memory.hpp>

#include <mutex>
#include <utility>

namespace weft::detail {

constinit thread_local job_memory::shelf job_memory::shelves[classes];

namespace {

// Magazines that no thread has at hand, and all memory there is. Never destroyed: jobs may be freed
// until the process is gone.
class depot {
 public:
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
    return fill(take_empty(), size_class);
  }
  job_magazine* take_empty() {
    {
      const std::lock_guard lock(mutex_);
      if (job_magazine* m = take(empty_)) return m;
    }
    return new job_magazine;
  }
  void put(job_magazine* m, std::size_t size_class) noexcept {
    const std::lock_guard lock(mutex_);
    job_magazine*& list = m->count > 0 ? filled_[size_class] : empty_;
    m->next = std::exchange(list, m);
  }

 private:
  static job_magazine* take(job_magazine*& list) noexcept {
    job_magazine* const m = list;
    if (m != nullptr) list = m->next;
    return m;
  }

  job_magazine* fill(job_magazine* m, std::size_t size_class) {
    const std::size_t size = size_class == 0 ? 64 : 128;
    constexpr std::size_t head = 64;  // links the chunks; keeps the blocks aligned
    auto* const chunk = static_cast<std::byte*>(
        ::operator new(head + size * job_magazine::capacity, std::align_val_t(64)));
    {
      const std::lock_guard lock(mutex_);
      *reinterpret_cast<void**>(chunk) = std::exchange(chunks_, chunk);
    }
    for (; m->count < job_magazine::capacity; ++m->count) {
      m->blocks[m->count] = chunk + head + m->count * size;
    }
    return m;
  }

  std::mutex mutex_;
  // Guarded by mutex_.
  job_magazine* filled_[2] = {};
  job_magazine* empty_ = nullptr;
  void* chunks_ = nullptr;
};

}  // namespace

void job_memory::reload(shelf& s, std::size_t size_class) {
  // Threads of the program that spawn; workers give back by themselves.
  struct give_back_at_exit {
    bool armed = true;
    ~give_back_at_exit() { give_back(); }
  };
  static thread_local give_back_at_exit at_exit;
  static_cast<void>(at_exit.armed);
  std::swap(s.current, s.reserve);
  if (s.current != nullptr && s.current->count > 0) return;
  job_magazine* const filled = depot::instance().take_filled(size_class);
  if (s.current != nullptr) depot::instance().put(s.current, size_class);
  s.current = filled;
}

void job_memory::unload(shelf& s, std::size_t size_class) noexcept {
  std::swap(s.current, s.reserve);
  if (s.current != nullptr && s.current->count < job_magazine::capacity) return;
  if (s.current != nullptr) depot::instance().put(s.current, size_class);
  s.current = depot::instance().take_empty();
}

void job_memory::give_back() noexcept {
  for (std::size_t c = 0; c < classes; ++c) {
    for (job_magazine** m : {&shelves[c].current, &shelves[c].reserve}) {
      if (*m != nullptr) depot::instance().put(std::exchange(*m, nullptr), c);
    }
  }
}

}  // namespace weft::detail
