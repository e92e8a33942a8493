#pragma once

#include <CLI/App.hpp>

namespace weft::cli {

// weft simulate: what a policy would have done on a recorded day. Sets `status` when it runs.
void add_simulate(CLI::App& app, int& status);

}  // namespace weft::cli
