#pragma once

#include <cstddef>
#include <string>

namespace weft::process {

// Kills every process whose environment has the variable with this value, with SIGKILL, and waits
// until they are gone, a second at most. Returns how many there were. This is how what a killed
// program has left running is found again. The caller itself and what it may not look at are left
// alone.
std::size_t kill_marked(const std::string& variable, const std::string& value);

}  // namespace weft::process
