#include <weft/batch/profile_store.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include <weft/base/utf8.hpp>

#include "batch/durable_file.hpp"
#include "batch/profile_json.hpp"
#include "batch/profile_text.hpp"

namespace weft::batch {
namespace {

using base::printable;
using detail::durable_file;
using detail::parsed_profiles;

constexpr std::size_t largest_file = std::size_t{128} << 20U;
constexpr std::size_t most_warnings = 5;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

parsed_profiles parse(const std::string& text) {
  if (text.size() <= largest_file) return detail::parse_profiles(text, now());
  parsed_profiles too_large;
  too_large.problem = "it is larger than " + std::to_string(largest_file >> 20U) + " MB";
  return too_large;
}

bool is_newer(const parsed_profiles& parsed) { return parsed.version > detail::profile_version; }

void append_up_to(std::vector<std::string>& warnings, const std::string& beginning,
                  const std::vector<std::string>& problems) {
  const std::size_t shown = std::min(problems.size(), most_warnings);
  for (std::size_t i = 0; i < shown; ++i) warnings.push_back(beginning + problems[i]);
  if (problems.size() > shown) {
    warnings.push_back(beginning + "and " + std::to_string(problems.size() - shown) + " more");
  }
}

loaded_profiles to_loaded(const std::string& path, parsed_profiles parsed) {
  loaded_profiles loaded;
  const std::string name = printable(path);
  if (is_newer(parsed)) {
    loaded.read_only = true;
    loaded.warnings.push_back(
        name + " is of version " + std::to_string(parsed.version) + ", and this weft knows " +
        std::to_string(detail::profile_version) +
        ": it is read as far as it can be understood and not written; use a newer weft, or "
        "another file");
  }
  append_up_to(loaded.warnings, name + ": left out: ", parsed.dropped);
  loaded.values = std::move(parsed.values);
  return loaded;
}

// Whether a text that is no profile file may once have been one: it has the name of one, is empty
// or NUL, or begins as we begin. Anything else is somebody's work and must not be moved: a slip
// such as `--profiles plan.toml` would take it away.
bool was_profile_file(const std::string& path, std::string_view text) {
  constexpr std::string_view usual_name = "profiles.json";
  constexpr std::string_view beginning = "{\n\"format\": \"weft-profiles\"";
  const bool is_blank = text.find_first_not_of(std::string_view("\0 \t\r\n", 5)) == text.npos;
  return path.ends_with(usual_name) || is_blank || text.starts_with('\0') ||
         text.substr(0, beginning.size()) == beginning.substr(0, text.size());
}

// Must be unusable still when the lock is held: another process may have replaced it by then.
result<parsed_profiles> read_or_move_aside(const durable_file& file, const durable_file::lock& held,
                                           const std::string& path,
                                           std::vector<std::string>& warnings) {
  auto text = file.read(largest_file);
  if (!text) return tl::unexpected(std::move(text.error()));
  if (!*text) return parsed_profiles();
  parsed_profiles parsed = parse((*text)->text);
  if (parsed.problem.empty() || is_newer(parsed)) return parsed;
  if (!was_profile_file(path, (*text)->text)) {
    return fail(error_kind::bad_data, printable(path) + " is not a profile file (" +
                                          parsed.problem + "); name another one");
  }
  auto aside = file.move_aside(held);
  if (!aside) return tl::unexpected(std::move(aside.error()));
  warnings.push_back(printable(path) + " is not a profile file (" + parsed.problem +
                     "); it is now " + printable(*aside) + ", and learning starts anew");
  return parsed_profiles();
}

result<written_profiles> write(const durable_file& file, const durable_file::lock& held,
                               const std::string& path, const profiles& values) {
  written_profiles warnings;
  const detail::profile_text written = detail::to_json(values, largest_file);
  if (written.dropped > 0) {
    warnings.push_back(printable(path) + ": dropped the " + std::to_string(written.dropped) +
                       " profiles whose rules have not run for longest, as it may have " +
                       std::to_string(largest_file >> 20U) + " MB");
  }
  append_up_to(warnings,
               printable(path) + ": left out, as its id is not UTF-8: ", written.left_out);
  if (auto done = file.replace(held, written.text); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  return warnings;
}

tl::unexpected<error> refuse_newer(const std::string& path, const parsed_profiles& parsed) {
  return fail(error_kind::bad_data, printable(path) + " is of version " +
                                        std::to_string(parsed.version) + ", and this weft writes " +
                                        std::to_string(detail::profile_version) +
                                        "; use a newer weft, or another file");
}

}  // namespace

result<loaded_profiles> load_profiles(const std::string& path) {
  const auto file = durable_file::open(path, durable_file::missing_directory::is_fine);
  if (!file) return tl::unexpected(file.error());
  const auto text = file->read(largest_file);
  if (!text) return tl::unexpected(text.error());
  if (!*text) return loaded_profiles();
  parsed_profiles parsed = parse((*text)->text);
  if (parsed.problem.empty() || is_newer(parsed)) {
    loaded_profiles loaded = to_loaded(path, std::move(parsed));
    loaded.version = (*text)->version;
    return loaded;
  }

  std::vector<std::string> warnings;
  const auto moved = file->take_lock().and_then([&](const durable_file::lock& held) {
    return read_or_move_aside(*file, held, path, warnings);
  });
  if (!moved && moved.error().kind == error_kind::bad_data) {
    return tl::unexpected(moved.error());
  }
  if (moved) {
    loaded_profiles loaded = to_loaded(path, *moved);
    loaded.warnings.insert(loaded.warnings.begin(), warnings.begin(), warnings.end());
    return loaded;
  }
  loaded_profiles nothing;
  nothing.read_only = true;
  nothing.warnings.push_back(printable(path) + " is not a profile file (" + parsed.problem +
                             ") and is left out: " + moved.error().message);
  return nothing;
}

result<loaded_profiles> read_profiles(const std::string& path) {
  const auto text = detail::read_regular_file(path, largest_file);
  if (!text) return tl::unexpected(text.error());
  parsed_profiles parsed = parse(*text);
  if (parsed.problem.empty() || is_newer(parsed)) return to_loaded(path, std::move(parsed));
  return fail(error_kind::bad_data,
              printable(path) + " is not a profile file (" + parsed.problem +
                  "); expected what weft run writes, or rule ids with avg_time, std_dev, "
                  "sample_count, min_time and max_time");
}

result<written_profiles> add_to_profiles(const std::string& path, const profiles& seen,
                                         loaded_profiles&& before) {
  const auto file = durable_file::open(path, durable_file::missing_directory::is_created);
  if (!file) return tl::unexpected(file.error());
  const auto held = file->take_lock();
  if (!held) return tl::unexpected(held.error());
  if (before.version && !before.read_only && file->is_current(*before.version)) {
    before.values.merge(seen);
    return write(*file, *held, path, before.values);
  }
  written_profiles warnings;
  auto old = read_or_move_aside(*file, *held, path, warnings);
  if (!old) return tl::unexpected(std::move(old.error()));
  if (is_newer(*old)) return refuse_newer(path, *old);
  old->values.merge(seen);
  auto written = write(*file, *held, path, old->values);
  if (written) written->insert(written->begin(), warnings.begin(), warnings.end());
  return written;
}

result<written_profiles> save_profiles(const std::string& path, const profiles& values) {
  const auto file = durable_file::open(path, durable_file::missing_directory::is_created);
  if (!file) return tl::unexpected(file.error());
  const auto held = file->take_lock();
  if (!held) return tl::unexpected(held.error());
  return write(*file, *held, path, values);
}

result<pruned_profiles> prune_profiles(
    const std::string& path,
    const std::function<bool(const profile_key& key, const profile& values)>& drops) {
  const auto file = durable_file::open(path, durable_file::missing_directory::is_fine);
  if (!file) return tl::unexpected(file.error());
  const auto held = file->take_lock();
  if (!held) return tl::unexpected(held.error());
  pruned_profiles made;
  auto old = read_or_move_aside(*file, *held, path, made.warnings);
  if (!old) return tl::unexpected(std::move(old.error()));
  if (is_newer(*old)) return refuse_newer(path, *old);
  profiles left;
  for (const auto& [key, values] : old->values.entries()) {
    if (drops(key, values)) {
      made.dropped.push_back(key);
    } else {
      left.insert(profile_key(key), profile(values));
    }
  }
  made.kept = left.size();
  if (made.dropped.empty()) return made;
  auto written = write(*file, *held, path, left);
  if (!written) return tl::unexpected(std::move(written.error()));
  made.warnings.insert(made.warnings.end(), written->begin(), written->end());
  return made;
}

}  // namespace weft::batch
