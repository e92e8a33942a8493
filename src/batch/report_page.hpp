#pragma once

#include <span>
#include <string_view>

namespace weft::batch {

struct embedded_file {
  std::string_view name;
  std::string_view text;
};

// The files of src/batch/report_page: page.html first, then styles and scripts in the order in
// which they need each other.
extern const std::span<const embedded_file> report_page;

}  // namespace weft::batch
