#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/batch/profile.hpp>

// How profiles are read. One rule is one line, and keys are sorted, so that a diff can be read. The
// format comes first:
//
//   {
//   "format": "weft-profiles",
//   "version": 1,
//   "profiles": {
//   "AR001": {"": {"avg_time":0.5, ... "timeouts":0}},
//   "AR006": {"": {...}, "10-100 KB": {...}}
//   }
//   }
//
// Below a rule stands its entry for each class of input. `mean`, `m2`, `min`, `max`, `n`,
// `failures`, `timeouts` and `recent` are the profile; `recent` has [when, seconds] or
// [when, seconds, bytes] for each sample. The others are for readers and not read again: `p50`,
// `p90`, `peak_rss`, and `avg_time`, `std_dev`, `sample_count`, `min_time`, `max_time`,
// `last_updated`, as the validator calls them from which the idea comes.

namespace weft::batch::detail {

inline constexpr std::string_view profile_format = "weft-profiles";
inline constexpr std::uint64_t profile_version = 1;

struct parsed_profiles {
  profiles values;
  std::string problem;               // why the text as a whole makes no sense; empty if it does
  std::vector<std::string> dropped;  // an entry that makes no sense each: rule, field, why
  std::uint64_t version = profile_version;
};

// Never fails: whatever the text is, what can be understood of it is. Also understands the file of
// that validator: an object of rule ids with avg_time and so on.
//
// `now`, in seconds since 1970, is what times are held against: a sample from the future would
// remain the latest for ever, so its time counts as not known. An hour is forgiven, as machines
// that share a file disagree.
[[nodiscard]] parsed_profiles parse_profiles(std::string_view text, double now);

}  // namespace weft::batch::detail
