#pragma once

#include <CLI/CLI.hpp>

namespace weft::cli {

// weft plan: how long a plan will take, and what to do about it.
void add_plan(CLI::App& app, int& status);

}  // namespace weft::cli
