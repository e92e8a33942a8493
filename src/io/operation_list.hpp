#pragma once

#include <utility>

#include <weft/io/socket_operation.hpp>

namespace weft::io {

// Operations with which an engine goes on next, oldest first. One is in one list at most.
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
  // It is in the list.
  void remove(socket_operation& op) noexcept {
    socket_operation* before = nullptr;
    for (socket_operation* at = first_; at != &op; at = at->next) before = at;
    *(before == nullptr ? &first_ : &before->next) = std::exchange(op.next, nullptr);
    if (last_ == &op) last_ = before;
    op.is_queued = false;
  }

 private:
  socket_operation* first_ = nullptr;
  socket_operation* last_ = nullptr;  // undefined when empty
};

}  // namespace weft::io
