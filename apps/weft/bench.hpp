#pragma once

#include <CLI/CLI.hpp>

namespace weft::cli {

// weft bench: a plan run in several ways, compared.
void add_bench(CLI::App& app, int& status);

}  // namespace weft::cli
