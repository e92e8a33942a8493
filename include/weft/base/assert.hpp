#pragma once

namespace weft::base {

/// Prints where and what, then aborts. Called by WEFT_ASSERT only.
///
/// Threads: any. It allocates nothing, so it works in whatever state the process is.
[[noreturn, gnu::cold, gnu::noinline]] void assertion_failed(const char* file, int line,
                                                             const char* expression,
                                                             const char* message) noexcept;

}  // namespace weft::base

/// Stops the program when `condition` is false: a bug in Weft, or a broken contract of its caller.
/// It is always on, because a runtime that goes on after losing a job fails later and elsewhere.
/// `message` is for the person who sees it: what must hold, and what to do.
///
/// Under the model checker a broken assertion ends the execution with its history instead. A model
/// includes Relacy before any header of Weft.
#ifdef WEFT_MODEL_CHECK
#define WEFT_ASSERT(condition, message) RL_ASSERT(condition)
#else
#define WEFT_ASSERT(condition, message)              \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::weft::base::assertion_failed(__FILE__, __LINE__, #condition, message))
#endif
