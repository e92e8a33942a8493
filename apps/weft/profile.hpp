#pragma once

#include <CLI/App.hpp>

namespace weft::cli {

// weft profile: what is known about the costs of rules. Sets `status` when it runs.
void add_profile(CLI::App& app, int& status);

}  // namespace weft::cli
