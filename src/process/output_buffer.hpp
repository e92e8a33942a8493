#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <weft/process/command.hpp>

namespace weft::process {

// Keeps the first and the last bytes of a stream, and counts those between.
class output_buffer {
 public:
  output_buffer(std::size_t most_head, std::size_t most_tail)
      : most_head_(most_head), most_tail_(most_tail) {}

  void append(std::string_view bytes);
  [[nodiscard]] captured_output take() &&;

 private:
  void append_to_tail(std::string_view bytes);

  std::size_t most_head_;
  std::size_t most_tail_;
  std::string head_;
  // Grows to most_tail_ and is a ring from then on: the oldest byte is at oldest_.
  std::string tail_;
  std::size_t oldest_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace weft::process
