#pragma once

#include <CLI/CLI.hpp>

namespace weft::cli {

// weft explain: why a rule began when it did.
void add_explain(CLI::App& app, int& status);

}  // namespace weft::cli
