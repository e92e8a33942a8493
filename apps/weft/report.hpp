#pragma once

#include <CLI/CLI.hpp>

namespace weft::cli {

// weft report: what happened in a run.
void add_report(CLI::App& app, int& status);

}  // namespace weft::cli
