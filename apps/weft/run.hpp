#pragma once

#include <CLI/CLI.hpp>

namespace weft::cli {

// weft run: the rules of a plan.
void add_run(CLI::App& app, int& status);

}  // namespace weft::cli
