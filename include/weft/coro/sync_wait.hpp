#pragma once

#include <stop_token>

#include <weft/core/pool.hpp>
#include <weft/coro/task.hpp>

namespace weft {

namespace coro {

// Runs the chain that starts with this task; returns when it has ended.
void run_and_wait(promise_base& first, const std::stop_token& token);
void run_and_wait(pool& p, promise_base& first, const std::stop_token& token);
// In this thread, whether it is a worker or not.
void run_here_and_wait(promise_base& first, const std::stop_token& token);

}  // namespace coro

// Runs a task and waits for it: the way from plain code into coroutines. Returns what it returns,
// throws what it throws. When the token asks to stop, so is the task.
//
// It starts in the calling thread, which goes on with it whenever it is not in another lane. A
// worker of a pool that calls this runs it in its pool, and helps with other jobs meanwhile.
// Blocks: until the task has ended.
template <class T>
T sync_wait(task<T> t, const std::stop_token& token = {}) {
  auto& promise = t.promise("sync_wait");
  coro::run_and_wait(promise, token);
  return promise.take();
}

// As above, as a job of the pool from its start. Errors: pool_stopped.
template <class T>
T sync_wait(pool& p, task<T> t, const std::stop_token& token = {}) {
  auto& promise = t.promise("sync_wait");
  coro::run_and_wait(p, promise, token);
  return promise.take();
}

}  // namespace weft
