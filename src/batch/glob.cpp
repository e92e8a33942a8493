#include "batch/glob.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/text.hpp"

namespace weft::batch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t patterns_max = 1000;  // "{a,b}" twenty times is a million

// "a{b,c}d" becomes "abd" and "acd". An unmatched brace stands for itself. Where there are more
// than patterns_max, some of them: more than that.
std::vector<std::string> without_braces(std::string_view pattern) {
  std::vector<std::string> todo{std::string(pattern)};
  std::vector<std::string> done;
  while (!todo.empty() && done.size() <= patterns_max) {
    const std::string text = std::move(todo.back());
    todo.pop_back();
    const std::size_t close = text.find('}');
    const std::size_t open =
        close == std::string::npos ? std::string::npos : text.rfind('{', close);
    if (open == std::string::npos) {
      done.push_back(text);
      continue;
    }
    const auto parts = base::split(std::string_view(text).substr(open + 1, close - open - 1), ',');
    for (const std::string_view part : parts) {
      todo.push_back(text.substr(0, open).append(part).append(text.substr(close + 1)));
    }
  }
  return done;
}

bool has_wildcard(std::string_view name) {
  return name.find_first_of("*?[") != std::string_view::npos;
}

class walk {
 public:
  walk(const std::string& directory, const std::stop_token& stop)
      : directory_(directory), stop_(stop) {}

  std::vector<std::string> found;
  std::vector<std::string> unreadable;

  // What is at `path`, which ends with a slash or is empty, and matches the names that are left.
  void go(const std::string& path, std::span<const std::string_view> names) {
    if (stop_.stop_requested()) return;
    const std::string_view name = names.front();
    const auto rest = names.subspan(1);
    if (name == "**") {
      if (!rest.empty()) go(path, rest);
      for (const fs::directory_entry& entry : entries(path)) {
        const std::string child = entry.path().filename().string();
        if (child.front() == '.') continue;
        std::error_code ignored;
        const bool is_directory = entry.is_directory(ignored) && !entry.is_symlink(ignored);
        if (rest.empty() && !is_directory) found.push_back(path + child);
        if (is_directory) go(path + child + "/", names);
      }
    } else if (!has_wildcard(name)) {
      arrive(path + std::string(name), rest);
    } else {
      for (const fs::directory_entry& entry : entries(path)) {
        const std::string child = entry.path().filename().string();
        if (::fnmatch(std::string(name).c_str(), child.c_str(), FNM_PERIOD) == 0) {
          arrive(path + child, rest);
        }
      }
    }
  }

 private:
  void arrive(const std::string& path, std::span<const std::string_view> rest) {
    std::error_code failed;
    if (!rest.empty()) {
      if (fs::is_directory(full(path), failed)) go(path + "/", rest);
    } else if (fs::exists(fs::symlink_status(full(path), failed))) {
      found.push_back(path);
    }
    note(path, failed);
  }

  // What is not there is no problem; what cannot be looked at is.
  void note(const std::string& path, const std::error_code& failed) {
    if (!failed || failed == std::errc::no_such_file_or_directory ||
        failed == std::errc::not_a_directory) {
      return;
    }
    unreadable.push_back((path.empty() ? "." : path) + ": " + failed.message());
  }

  [[nodiscard]] fs::path full(const std::string& path) const {
    return fs::path(directory_) / fs::path(path);
  }

  [[nodiscard]] std::vector<fs::directory_entry> entries(const std::string& path) {
    std::vector<fs::directory_entry> all;
    std::error_code failed;
    const fs::path where = full(path);
    for (fs::directory_iterator at(where.empty() ? "." : where, failed), end; !failed && at != end;
         at.increment(failed)) {
      all.push_back(*at);
    }
    note(path, failed);
    return all;
  }

  const std::string& directory_;
  const std::stop_token& stop_;
};

}  // namespace

std::vector<std::string> expand(std::string_view pattern, const std::string& directory,
                                const std::stop_token& stop, std::vector<std::string>* unreadable) {
  walk found(directory, stop);
  for (const std::string& each : without_braces(pattern)) {
    const bool absolute = !each.empty() && each.front() == '/';
    std::vector<std::string_view> names = base::split(each, '/');
    std::erase(names, "");
    // "**/**" is "**", found in many ways.
    const auto doubled = std::ranges::unique(
        names, [](std::string_view a, std::string_view b) { return a == "**" && b == "**"; });
    names.erase(doubled.begin(), doubled.end());
    if (names.empty()) {
      if (absolute) found.found.emplace_back("/");
      continue;
    }
    found.go(absolute ? "/" : "", names);
  }
  std::ranges::sort(found.found);
  const auto repeated = std::ranges::unique(found.found);
  found.found.erase(repeated.begin(), repeated.end());
  if (unreadable != nullptr) *unreadable = std::move(found.unreadable);
  return std::move(found.found);
}

bool can_expand(std::string_view pattern) { return without_braces(pattern).size() <= patterns_max; }

bool matches_glob(std::string_view pattern, const std::string& text) {
  return std::ranges::any_of(without_braces(pattern), [&](const std::string& each) {
    return ::fnmatch(each.c_str(), text.c_str(), 0) == 0;
  });
}

}  // namespace weft::batch
