#pragma once

#include <string>
#include <string_view>

namespace weft::base {

// Appends a JSON string with its quotes. Text that is not UTF-8 is mended, since JSON has no other.
void append_json_string(std::string& out, std::string_view text);

}  // namespace weft::base
