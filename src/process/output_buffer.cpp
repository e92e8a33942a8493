#include "process/output_buffer.hpp"

#include <algorithm>
#include <utility>

namespace weft::process {

void output_buffer::append(std::string_view bytes) {
  const std::size_t to_head = std::min(bytes.size(), most_head_ - head_.size());
  head_.append(bytes.substr(0, to_head));
  append_to_tail(bytes.substr(to_head));
}

void output_buffer::append_to_tail(std::string_view bytes) {
  if (bytes.size() > most_tail_) {
    // They push out everything before them, and some of their own.
    dropped_ += tail_.size() + (bytes.size() - most_tail_);
    tail_.assign(bytes.substr(bytes.size() - most_tail_));
    oldest_ = 0;
    return;
  }
  const std::size_t fitting = std::min(bytes.size(), most_tail_ - tail_.size());
  tail_.append(bytes.substr(0, fitting));
  bytes.remove_prefix(fitting);
  dropped_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), most_tail_ - oldest_);
    bytes.copy(tail_.data() + oldest_, count);
    bytes.remove_prefix(count);
    oldest_ = (oldest_ + count) % most_tail_;
  }
}

captured_output output_buffer::take() && {
  std::rotate(tail_.begin(), tail_.begin() + static_cast<std::ptrdiff_t>(oldest_), tail_.end());
  if (dropped_ == 0) head_ += std::exchange(tail_, {});
  return {.head = std::move(head_), .tail = std::move(tail_), .dropped = dropped_};
}

std::string captured_output::text() const {
  if (dropped == 0) return head + tail;
  const char* const end_of_line = head.empty() || head.ends_with('\n') ? "" : "\n";
  return head + end_of_line + "[... " + std::to_string(dropped) + " bytes left out ...]\n" + tail;
}

}  // namespace weft::process
