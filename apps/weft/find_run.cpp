#include "find_run.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <weft/base/utf8.hpp>

namespace weft::cli {
namespace {

std::string id_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

// Some of the runs that there are, for whoever has named one that there is not.
std::string newest_ids(const std::vector<std::string>& logs) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, logs.size()); ++i) {
    text += (i == 0 ? "" : ", ") + id_of(logs[i]);
  }
  return text;
}

}  // namespace

result<batch::logged_run> find_run(const std::string& named, const std::string& directory) {
  std::error_code ignored;
  if (!named.empty() && std::filesystem::exists(named, ignored)) return batch::read_run(named);
  const std::vector<std::string> logs = batch::list_runs(directory);
  if (logs.empty()) {
    return fail(error_kind::missing_input, (named.empty() ? "" : base::printable(named) + ": ") +
                                               "there is no run in " + base::printable(directory) +
                                               "; run a plan first, or say where with --runs");
  }
  if (named.empty()) return batch::read_run(logs.front());
  std::vector<std::string> meant;
  for (const std::string& path : logs) {
    if (id_of(path) == named) return batch::read_run(path);
    if (id_of(path).starts_with(named)) meant.push_back(path);
  }
  if (meant.size() == 1) return batch::read_run(meant.front());
  const std::string where = base::printable(directory);
  if (meant.empty()) {
    return fail(error_kind::missing_input, "there is no run or file " + base::printable(named) +
                                               "; the newest runs in " + where + " are " +
                                               newest_ids(logs));
  }
  return fail(error_kind::missing_input, std::to_string(meant.size()) + " runs in " + where +
                                             " begin with " + base::printable(named) +
                                             "; the newest of them are " + newest_ids(meant));
}

}  // namespace weft::cli
