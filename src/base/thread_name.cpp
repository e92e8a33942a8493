#include "base/thread_name.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace weft::detail {

void name_this_thread(std::string_view group, unsigned index) noexcept {
  std::array<char, 10> digits{};  // of 2^32
  char* const number_end = std::to_chars(digits.data(), digits.data() + digits.size(), index).ptr;
  std::array<char, 16> name{};  // ends with a zero
  const auto room = name.size() - 2 - static_cast<std::size_t>(number_end - digits.data());
  char* end = std::ranges::copy(group.substr(0, room), name.data()).out;
  *end++ = '/';
  std::copy(digits.data(), number_end, end);
  ::pthread_setname_np(::pthread_self(), name.data());
}

}  // namespace weft::detail
