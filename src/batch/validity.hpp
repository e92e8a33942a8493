#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft::batch {

// Why a text is no JSON, or no TOML, with line and column; nothing if it is.
[[nodiscard]] std::optional<std::string> json_problem(std::string_view text);
[[nodiscard]] std::optional<std::string> toml_problem(std::string_view text);

}  // namespace weft::batch
