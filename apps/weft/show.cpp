#include "show.hpp"

namespace weft::cli {

std::string indented(std::string_view text, std::string_view before) {
  std::string made;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    (((made += before) += line)) += '\n';
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  }
  return made;
}

}  // namespace weft::cli
