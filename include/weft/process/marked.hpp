#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace weft::process {

// Kills every process whose environment has all these variables, each written "NAME=value", with
// SIGKILL, and waits until they are gone, a second at most. Returns how many there were. This is
// how what a killed program has left running is found again. The caller itself and what it may not
// look at are left alone.
std::size_t kill_marked(const std::vector<std::string>& variables);

}  // namespace weft::process
