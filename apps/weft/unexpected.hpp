#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace weft::cli {

// What to say about arguments that no command has asked for: which one, what was probably meant,
// and where to look.
[[nodiscard]] std::string explain_unexpected(const CLI::App& app);

}  // namespace weft::cli
