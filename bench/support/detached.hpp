#pragma once

#include <coroutine>
#include <exception>

namespace bench {

// The least a coroutine can be: starts at once, belongs to nobody, frees its frame at its end.
struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

}  // namespace bench
