#pragma once

#include <functional>
#include <optional>
#include <string>

#include <weft/otlp/options.hpp>

namespace weft::otlp {

// Errors: std::invalid_argument for the first option that cannot work; the message names the field
// and says what to give. What it says of headers leaves their values out: they may be secrets.
void check_options(const otlp_options& options);

// Of the variables that `variable` gives the values of.
// Errors: as otlp_options::from_environment().
[[nodiscard]] otlp_options read_environment(
    const std::function<std::optional<std::string>(const char* name)>& variable);

}  // namespace weft::otlp
