#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/batch/profile.hpp>

namespace weft::batch {

namespace detail {
class file_version;
}

// The profile file, `.weft/profiles.json` unless told otherwise.
//
// A write is all or nothing and survives a crash: a temporary file of a random name beside it,
// fsync, rename, fsync of the directory. Several processes may write at once: each adds what it
// has seen to what is there, under a lock. A damaged file is moved aside as `<name>.corrupt-<n>`
// and the run goes on without it; a file that never was one is refused; an entry that makes none is
// left out. A file of a newer version is read as far as it can be understood, and not written.
// Links are not followed, and a file of another user is refused.
//
// Sizes have a limit of 128 MB: beyond it the rules that have not run for longest are dropped.
//
// Errors: missing_input for what is not a file, no_permission, cannot_create, io_error; bad_data
// for a file that never was one, and for writing to a newer version.

// What reading gave, and what a user should be told about it.
struct loaded_profiles {
  profiles values;
  std::vector<std::string> warnings;
  bool read_only = false;  // do not write: the file is of a newer version, or cannot be moved aside
  std::shared_ptr<const detail::file_version> version = nullptr;  // which file it was, if any
};

// A missing file is an empty one. Also reads the `rule_execution_profiles.json` of the validator
// from which the idea comes: avg_time, std_dev, sample_count, min_time, max_time, last_updated.
[[nodiscard]] result<loaded_profiles> load_profiles(const std::string& path);

// The same for a file that somebody names to be looked at: it is never moved, may be a link or
// belong to anybody, and has to be there. Errors: missing_input, bad_data.
[[nodiscard]] result<loaded_profiles> read_profiles(const std::string& path);

// What a user should be told: warnings.
using written_profiles = std::vector<std::string>;

// Adds what was seen to the file. Blocks: while another process writes. `before` is what
// load_profiles gave for this path: unless somebody has written since, which is found out, the file
// need not be read again.
[[nodiscard]] result<written_profiles> add_to_profiles(const std::string& path,
                                                       const profiles& seen,
                                                       loaded_profiles&& before = {});

// Replaces the file: for `weft profile merge`.
[[nodiscard]] result<written_profiles> save_profiles(const std::string& path,
                                                     const profiles& values);

// What pruning has left, and what it took out.
struct pruned_profiles {
  std::vector<profile_key> dropped;
  std::size_t kept = 0;
  std::vector<std::string> warnings;
};

// Takes out of the file what `drops` says yes to. Blocks: while another process writes.
[[nodiscard]] result<pruned_profiles> prune_profiles(
    const std::string& path,
    const std::function<bool(const profile_key& key, const profile& values)>& drops);

}  // namespace weft::batch
