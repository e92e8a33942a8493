#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <weft/base/utf8.hpp>

namespace weft::batch {

// The beginning of a text: at most so many bytes, whole characters, and a mark where it was cut.
[[nodiscard]] inline std::string excerpt(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t kept = 0;
  while (kept < bytes_max) {
    const std::size_t step = std::max<std::size_t>(1, base::utf8_character(text.substr(kept)));
    if (kept + step > bytes_max) break;
    kept += step;
  }
  return std::string(text.substr(0, kept)) + " [...]";
}

}  // namespace weft::batch
