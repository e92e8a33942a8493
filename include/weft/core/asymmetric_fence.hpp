#pragma once

#include <atomic>

namespace weft::detail {

// A pair of fences that orders a store before a later load on both sides, and charges one side
// only.
//
// The frequent side calls light_fence() between its store and its load: a compiler barrier, no
// instruction. The rare side calls heavy_fence() between its own store and load: the kernel makes
// every running thread of this process execute a full barrier (membarrier). Then, as with two
// seq_cst fences, at least one side sees the other's store.
//
// heavy_fence() is only that strong where asymmetric_fences_work() is true. Elsewhere it is a
// seq_cst fence and the frequent side must use seq_cst operations itself (deque does).
//
// Threads: any. Blocks: heavy_fence() is a system call, 0.2 to 12 us measured.
void heavy_fence() noexcept;

// Registers the process on first use. False where the kernel or a seccomp filter refuses.
[[nodiscard]] bool asymmetric_fences_work() noexcept;

#ifdef WEFT_MODEL_CHECK
inline void light_fence() noexcept {}  // the model's heavy_fence() fences the other threads
#else
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
#endif

}  // namespace weft::detail
