#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <weft/batch/profile.hpp>

namespace weft::batch::detail {

struct profile_text {
  std::string text;
  std::vector<std::string> left_out;  // rules that JSON cannot name, as their ids are not UTF-8
  std::size_t dropped = 0;            // profiles for which there was no room
};

// The text of a profile file; profile_json.hpp tells what it looks like. Beyond `most` bytes the
// rules go that have not run for longest, a tenth at a time.
[[nodiscard]] profile_text to_json(const profiles& values, std::size_t most);

}  // namespace weft::batch::detail
