#include <weft/core/job_memory.hpp>

#include <mutex>
#include <utility>

namespace weft::detail {

constinit thread_local job_magazine job_memory::magazines[classes];

namespace {

constexpr std::size_t block_size(std::size_t size_class) noexcept {
  return size_class == 0 ? 64 : 128;
}

// Full magazines that no thread has at hand, linked through the second word of their first block,
// and all memory there is. Never destroyed: jobs may be freed until the process is gone.
struct depot {
  std::mutex mutex;
  // Guarded by mutex, by size class:
  void* full[2] = {};
  void* loose[2] = {};  // single blocks, from threads that have ended
  // Guarded by mutex: keeps every chunk reachable.
  void* chunks = nullptr;
};

depot& the_depot() {
  static depot& instance = *new depot;
  return instance;
}

void*& next_block(void* block) noexcept { return *static_cast<void**>(block); }
void*& next_magazine(void* first_block) noexcept { return static_cast<void**>(first_block)[1]; }

// One chunk: a word that links the chunks, padding, and the blocks of one magazine.
void* make_magazine(std::size_t size_class) {
  const std::size_t size = block_size(size_class);
  constexpr std::size_t head = 64;
  auto* const chunk = static_cast<std::byte*>(
      ::operator new(head + size * job_magazine::capacity, std::align_val_t(64)));
  depot& d = the_depot();
  {
    const std::lock_guard lock(d.mutex);
    *reinterpret_cast<void**>(chunk) = std::exchange(d.chunks, chunk);
  }
  void* list = nullptr;
  for (unsigned i = job_magazine::capacity; i-- > 0;) {
    void* const block = chunk + head + i * size;
    next_block(block) = list;
    list = block;
  }
  return list;
}

}  // namespace

void job_memory::give_back() noexcept {
  for (std::size_t c = 0; c < classes; ++c) {
    job_magazine& m = magazines[c];
    unload(c);  // a full current one becomes the reserve
    unload(c);  // and goes
    depot& d = the_depot();
    const std::lock_guard lock(d.mutex);
    for (; m.count > 0; --m.count) {
      void* const block = pop(m);
      next_block(block) = std::exchange(d.loose[c], block);
    }
  }
}

void job_memory::reload(std::size_t size_class) {
  // Threads of the program that spawn; workers give back by themselves.
  struct give_back_at_exit {
    bool armed = true;
    ~give_back_at_exit() { give_back(); }
  };
  static thread_local give_back_at_exit at_exit;
  static_cast<void>(at_exit.armed);
  job_magazine& m = magazines[size_class];
  if (m.reserve == nullptr) {
    depot& d = the_depot();
    const std::lock_guard lock(d.mutex);
    m.reserve = d.full[size_class];
    if (m.reserve != nullptr) d.full[size_class] = next_magazine(m.reserve);
    for (; m.reserve == nullptr && m.count < job_magazine::capacity; ++m.count) {
      void* const block = d.loose[size_class];
      if (block == nullptr) break;
      d.loose[size_class] = next_block(block);
      next_block(block) = std::exchange(m.current, block);
    }
    if (m.count > 0) return;
  }
  if (m.reserve == nullptr) m.reserve = make_magazine(size_class);
  m.current = std::exchange(m.reserve, nullptr);
  m.count = job_magazine::capacity;
}

void job_memory::unload(std::size_t size_class) noexcept {
  job_magazine& m = magazines[size_class];
  if (m.reserve != nullptr) {
    depot& d = the_depot();
    const std::lock_guard lock(d.mutex);
    next_magazine(m.reserve) = std::exchange(d.full[size_class], m.reserve);
    m.reserve = nullptr;
  }
  if (m.count == job_magazine::capacity) {
    m.reserve = std::exchange(m.current, nullptr);
    m.count = 0;
  }
}

}  // namespace weft::detail
