#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace weft {
class observer;
}

namespace weft::detail {

struct context_node;
struct queued_job;

// On whose behalf this thread runs, and who watches it.
struct running {
  // A context, or a chain of tasks, which knows its own; zero for none.
  enum class work : std::uintptr_t { none = 0 };

  static work of_context(const context_node* node) noexcept {
    return static_cast<work>(reinterpret_cast<std::uintptr_t>(node));
  }
  static work of_chain(const void* first) noexcept {
    return static_cast<work>(reinterpret_cast<std::uintptr_t>(first) + chain_bit);
  }
  // Null when it is none.
  static const void* chain_of(work w) noexcept {
    const auto bits = static_cast<std::uintptr_t>(w);
    return (bits & chain_bit) != 0 ? reinterpret_cast<const void*>(bits - chain_bit) : nullptr;
  }
  // Not for a chain.
  static const context_node* context_of(work w) noexcept {
    return reinterpret_cast<const context_node*>(static_cast<std::uintptr_t>(w));
  }

  [[nodiscard]] work now() const noexcept { return now_.load(std::memory_order_relaxed); }
  void go_back(work before) noexcept { now_.store(before, std::memory_order_relaxed); }
  // Returns what was there, for go_back().
  work begin(const context_node* node) noexcept {
    const work before = now();
    if (before == work::none || chain_of(before) != nullptr) {
      below_.store(before, std::memory_order_relaxed);
    }
    go_back(of_context(node));
    return before;
  }
  // The chain that runs, also below a context_scope; null when none is known. By anybody.
  [[nodiscard]] const void* chain() const noexcept {
    const work w = now();
    if (w == work::none) return nullptr;
    const void* const running_now = chain_of(w);
    return running_now != nullptr ? running_now : chain_of(below_.load(std::memory_order_relaxed));
  }
  void begin_chain(const void* first) noexcept { go_back(of_chain(first)); }
  [[nodiscard]] bool runs_chain(const void* first) const noexcept {
    return now() == of_chain(first);
  }

  // Written by this thread alone. Read by monitors, too, which do not follow it: relaxed. Not
  // weft::atomic: the models have nothing to check here, and no initialiser for a constant.
  std::atomic<work> now_{work::none};
  std::atomic<work> below_{work::none};  // what the outermost context_scope began upon; likewise
  queued_job* next = nullptr;            // the task that this thread is about to resume
  weft::observer* observer = nullptr;    // is told of the tasks that this thread resumes
  unsigned worker = 0;                   // this thread's number, for the observer

  static constinit thread_local running here __attribute__((tls_model("initial-exec")));

  static running& on_this_thread() noexcept {
    running* mine = &here;
#if defined(__SANITIZE_ADDRESS__)
    // g++ 12 looks at the flags of the addition that makes this address to see whether it is null,
    // and the linker replaces it by one that sets none: a false alarm of -fsanitize=null.
    asm("" : "+r"(mine));
#endif
    return *mine;
  }

 private:
  static constexpr std::uintptr_t chain_bit = 1;
};

// While it lives, the thread runs on nobody's behalf: it helps others while it waits.
class running_for_nobody {
 public:
  running_for_nobody() noexcept : before_(here_.begin(nullptr)) {}
  ~running_for_nobody() { here_.go_back(before_); }
  running_for_nobody(const running_for_nobody&) = delete;
  running_for_nobody& operator=(const running_for_nobody&) = delete;

 private:
  running& here_ = running::on_this_thread();
  const running::work before_;
};

// How the layer of coroutines says which context a chain has: defined there, and not there at all
// where it is not linked. Not a pointer that it would have to set: static objects run tasks, too.
[[gnu::weak]] const context_node* context_of_chain(const void* first) noexcept;

}  // namespace weft::detail
