#pragma once

#include <string>

#include <weft/batch/rule.hpp>

namespace weft::batch {

// How large what a rule reads is, in powers of four: "64KiB" for 64 KiB up to 256 KiB. Empty for a
// rule that does not say what it reads. Profiles of one rule are kept apart by it.
[[nodiscard]] std::string input_class(const rule& of, const std::string& directory);

}  // namespace weft::batch
