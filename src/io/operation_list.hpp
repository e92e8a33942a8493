#pragma once

#include <utility>

#include <weft/io/socket_operation.hpp>

namespace weft::io {

// Operations that are told of their results next, oldest first.
class operation_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void push_back(socket_operation& op) noexcept {
    op.is_queued = true;
    op.next = nullptr;
    *(first_ == nullptr ? &first_ : &last_->next) = &op;
    last_ = &op;
  }
  // Null when there is none.
  [[nodiscard]] socket_operation* pop_front() noexcept {
    socket_operation* const op = first_;
    if (op != nullptr) {
      first_ = std::exchange(op->next, nullptr);
      op->is_queued = false;
    }
    return op;
  }

 private:
  socket_operation* first_ = nullptr;
  socket_operation* last_ = nullptr;  // undefined when empty
};

}  // namespace weft::io
