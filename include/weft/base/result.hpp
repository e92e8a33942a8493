#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

#include <weft/base/error.hpp>

namespace weft {

// A value, or why there is none.
template <class T>
using result = tl::expected<T, error>;

[[nodiscard]] inline tl::unexpected<error> fail(error_kind kind, std::string message) {
  return tl::unexpected<error>(error{kind, std::move(message)});
}

}  // namespace weft
