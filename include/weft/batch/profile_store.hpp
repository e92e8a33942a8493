#pragma once

#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/batch/profile.hpp>

namespace weft::batch {

// The profile file, `.weft/profiles.json` unless told otherwise.
//
// A write is all or nothing and survives a crash: a temporary file of a random name beside it,
// fsync, rename, fsync of the directory. Several processes may write at once: each adds what it
// has seen to what is there, under a lock. A file that makes no sense is moved aside as
// `<name>.corrupt-<n>` and the run goes on without it. A file of a newer version is read as far as
// it can be understood, and not written. Links are not followed.

// What reading gave, and what a user should be told about it.
struct loaded_profiles {
  profiles values;
  std::vector<std::string> warnings;
  bool read_only = false;
};

// A missing file is an empty one. Also reads the `rule_execution_profiles.json` of the validator
// from which the idea comes: avg_time, std_dev, sample_count, min_time, max_time, last_updated.
[[nodiscard]] result<loaded_profiles> load_profiles(const std::string& path);

// Adds what was seen to the file. Blocks: while another process writes.
[[nodiscard]] result<void> add_to_profiles(const std::string& path, const profiles& seen);

// Replaces the file: for `weft profile merge`.
[[nodiscard]] result<void> save_profiles(const std::string& path, const profiles& values);

}  // namespace weft::batch
