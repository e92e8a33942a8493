#pragma once

// What every model needs: the fences and the futex of src/core as steps of a Relacy execution, and
// the two searches. A model defines WEFT_MODEL_THREADS, the number of threads of its suites, and
// includes the sources it checks after this header.

#include <model_atomic.hpp>

#include <core/futex.hpp>
#include <weft/core/asymmetric_fence.hpp>

#ifndef WEFT_MODEL_THREADS
#error "define WEFT_MODEL_THREADS, the number of threads of the model's suites"
#endif

namespace weft::detail {

// membarrier: at some moment during the call, every other thread executes a full fence. Relacy has
// no such operation, but it keeps each thread's view of memory as data, and a fence is an update of
// that view: so the caller applies it to each thread in turn, and may be interrupted in between.
inline void heavy_fence() noexcept {
  constexpr int count = WEFT_MODEL_THREADS;
  using thread = rl::aligned<rl::thread_info<count>>;
  rl::context& c = rl::ctx();
  c.atomic_thread_fence_seq_cst();
  auto* const self = c.threadx_;
  auto* const first =
      static_cast<thread*>(static_cast<rl::thread_info<count>*>(self)) - self->index_;
  for (int i = 0; i < count; ++i) {
    if (&first[i] == self) continue;
    c.sched();
    const rl::preemption_disabler no_switch(
        c);  // not while the caller stands in for another thread
    c.threadx_ = &first[i];
    c.atomic_thread_fence_seq_cst();
    c.threadx_ = self;
  }
  c.atomic_thread_fence_seq_cst();
}

inline bool asymmetric_fences_work() noexcept { return true; }

inline futex_result futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                               const timespec*) noexcept {
  rl::context& c = rl::ctx();
  c.sched();
  c.atomic_thread_fence_seq_cst();
  std::uint32_t now = 0;
  {
    rl::preemption_disabler no_switch(c);
    now = word.relacy().load(rl::mo_acquire, RL_INFO);
  }
  if (now == expected) word.relacy().wait(c, false, false, RL_INFO);
  return futex_result::woken_or_changed;
}

inline void futex_wake_one(atomic<std::uint32_t>& word) noexcept {
  rl::context& c = rl::ctx();
  c.sched();
  c.atomic_thread_fence_seq_cst();
  word.relacy().wake(c, 1, RL_INFO);
}

}  // namespace weft::detail

namespace weft::model {

// Runs a suite under random schedules, then under all schedules with at most two forced switches.
// Arguments of the program: --random N, --bound K (0 for none).
class runner {
 public:
  runner(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
      const std::string flag = argv[i];
      const unsigned long value = std::stoul(argv[i + 1]);
      if (flag == "--random") random_ = value;
      if (flag == "--bound") bound_ = static_cast<unsigned>(value);
    }
  }

  // `largest_bound`: of a suite so long that two switches are millions of schedules more.
  template <class Suite>
  void run(const char* name, unsigned largest_bound = ~0U) {
    if (random_ > 0) {
      rl::test_params p;
      p.search_type = rl::sched_random;
      p.iteration_count = random_;
      check<Suite>(name, "random", p);
    }
    if (const unsigned bound = std::min(bound_, largest_bound); bound > 0) {
      rl::test_params p;
      p.search_type = rl::sched_bound;
      p.context_bound = bound;
      check<Suite>(name, "exhaustive", p);
    }
  }

  [[nodiscard]] int exit_code() const { return failed_ ? 1 : 0; }

 private:
  template <class Suite>
  void check(const char* name, const char* search, rl::test_params& p) {
    if (failed_) return;
    static std::ostream nowhere(nullptr);
    p.output_stream = &std::cerr;  // of a failure: what went wrong, and every step that led there
    p.progress_stream = &nowhere;
    p.execution_depth_limit = 4000;
    const bool ok = rl::simulate<Suite>(p);
    std::printf("%-44s %-10s %9llu schedules  %s\n", name, search,
                static_cast<unsigned long long>(p.stop_iteration), ok ? "ok" : "FAILED");
    std::fflush(stdout);
    failed_ = !ok;
  }

  unsigned long random_ = 500'000;
  unsigned bound_ = 2;
  bool failed_ = false;
};

}  // namespace weft::model
