#pragma once

#include <string_view>

namespace weft::detail {

// Calls the calling thread group/index, for debuggers and the kernel, which keeps 15 characters: of
// a group with a longer name those that leave room for the number.
void name_this_thread(std::string_view group, unsigned index) noexcept;

}  // namespace weft::detail
