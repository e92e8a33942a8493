#include <weft/batch/check.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include <re2/re2.h>

#include <weft/base/units.hpp>
#include <weft/base/utf8.hpp>

#include "batch/glob.hpp"
#include "batch/validity.hpp"

namespace weft::batch {
namespace {

constexpr std::size_t shown_max = 5;
constexpr std::uint64_t file_bytes_max = std::uint64_t{64} << 20U;

// What is wrong with files, up to a few of them in words.
class findings {
 public:
  void add(finding what) {
    const std::string line = what.line == 0 ? "" : ":" + std::to_string(what.line);
    std::string text = base::printable(what.file) + line + ": " + what.message;
    add(std::move(what), text);
  }
  void add(finding what, const std::string& in_words) {
    if (count_ < shown_max) (text_ += text_.empty() ? "" : "\n") += in_words;
    if (count_ < findings_max) list_.push_back(std::move(what));
    ++count_;
  }
  [[nodiscard]] rule_result result() && {
    if (count_ == 0) return pass();
    if (count_ > shown_max) text_ += "\nand " + std::to_string(count_ - shown_max) + " more";
    return {.passed = false, .message = std::move(text_), .findings = std::move(list_)};
  }

 private:
  std::string text_;
  std::vector<finding> list_;
  std::size_t count_ = 0;
};

RE2::Options pattern_options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_never_nl(true);                          // a match stays in its line
  options.set_encoding(RE2::Options::EncodingLatin1);  // files need not be UTF-8
  return options;
}

// `^` and `$` are the ends of a line.
std::string by_line(const std::string& pattern) { return "(?m)" + pattern; }

class performer {
 public:
  performer(const std::string& directory, const std::stop_token& stop)
      : directory_(directory), stop_(stop) {}

  // Directories that could not be looked into, and why.
  [[nodiscard]] const std::vector<std::string>& unreadable() const { return unreadable_; }

  rule_result operator()(const exists& c) {
    if (!files(c.files).empty()) return pass();
    return fail_rule("there is no " + base::printable(c.files));
  }

  rule_result operator()(const absent& c) {
    findings found;
    for (const std::string& file : files(c.files)) {
      found.add({.file = file, .message = "is there"}, base::printable(file) + " is there");
    }
    return std::move(found).result();
  }

  rule_result operator()(const matches& c) {
    const RE2 pattern(by_line(c.pattern), pattern_options());
    return for_each(c.files, [&](const std::string& file, const std::string& text, findings& to) {
      if (RE2::PartialMatch(text, pattern)) return;
      to.add({.file = file, .message = "no line matches " + base::printable(c.pattern)});
    });
  }

  rule_result operator()(const lacks& c) {
    const RE2 pattern("(" + by_line(c.pattern) + ")", pattern_options());
    return for_each(c.files, [&](const std::string& file, const std::string& text, findings& to) {
      re2::StringPiece rest(text);
      re2::StringPiece match;
      if (!RE2::PartialMatch(rest, pattern, &match)) return;
      const auto lines_before = std::count(text.data(), match.data(), '\n');
      to.add({.file = file,
              .line = static_cast<std::size_t>(lines_before) + 1,
              .message = "has " + base::printable(std::string_view(match.data(), match.size()))});
    });
  }

  rule_result operator()(const max_size& c) {
    findings found;
    const auto all = files(c.files);
    if (all.empty()) return no_files(c.files);
    for (const std::string& file : all) {
      std::error_code failed;
      const std::uintmax_t size = std::filesystem::file_size(full(file), failed);
      if (failed || size <= c.bytes) continue;  // a directory has no size
      found.add(
          {.file = file, .message = format_size(size) + ", more than " + format_size(c.bytes)});
    }
    return std::move(found).result();
  }

  rule_result operator()(const count& c) {
    const std::size_t number = files(c.files).size();
    const std::string seen =
        base::printable(c.files) + ": there are " + std::to_string(number) + ", ";
    if (number < c.at_least) {
      return fail_rule(seen + "at least " + std::to_string(c.at_least) + " expected");
    }
    if (c.at_most && number > *c.at_most) {
      return fail_rule(seen + "at most " + std::to_string(*c.at_most) + " expected");
    }
    return pass();
  }

  rule_result operator()(const json_valid& c) {
    return for_each(c.files, [](const std::string& file, const std::string& text, findings& to) {
      if (const auto problem = json_problem(text)) add_problem(to, file, "no JSON: ", *problem);
    });
  }

  rule_result operator()(const toml_valid& c) {
    return for_each(c.files, [](const std::string& file, const std::string& text, findings& to) {
      if (const auto problem = toml_problem(text)) add_problem(to, file, "no TOML: ", *problem);
    });
  }

 private:
  // Says the line itself, and the column.
  static void add_problem(findings& to, const std::string& file, const std::string& what,
                          const text_problem& problem) {
    const std::string message = what + base::printable(problem.what);
    to.add({.file = file, .line = problem.line, .message = message},
           base::printable(file) + ": " + message);
  }

  static rule_result no_files(const std::string& pattern) {
    return fail_rule("no file matches " + base::printable(pattern) +
                     ", so nothing was looked at; mend the pattern or use exists");
  }

  std::vector<std::string> files(const std::string& pattern) {
    return expand(pattern, directory_, stop_, &unreadable_);
  }

  [[nodiscard]] std::filesystem::path full(const std::string& file) const {
    return std::filesystem::path(directory_) / file;
  }

  // Calls look(name, text, findings) for every regular file.
  template <class Look>
  rule_result for_each(const std::string& pattern, Look look) {
    findings found;
    bool any = false;
    for (const std::string& file : files(pattern)) {
      if (stop_.stop_requested()) break;
      struct stat status{};
      const std::string path = full(file).string();
      if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
      any = true;
      if (static_cast<std::uint64_t>(status.st_size) > file_bytes_max) {
        found.add({.file = file,
                   .message = format_size(static_cast<std::uint64_t>(status.st_size)) +
                              ", too large to look into; the limit is " +
                              format_size(file_bytes_max)});
        continue;
      }
      std::ifstream in(path, std::ios::binary);
      if (!in) {
        const std::string why = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
        found.add({.file = file, .message = "cannot be read: " + why});
        continue;
      }
      const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      look(file, text, found);
    }
    return any ? std::move(found).result() : no_files(pattern);
  }

  const std::string& directory_;
  const std::stop_token& stop_;
  std::vector<std::string> unreadable_;
};

std::optional<std::string> pattern_problem(const std::string& pattern) {
  const RE2 compiled(by_line(pattern), pattern_options());
  if (compiled.ok()) return std::nullopt;
  return "\"" + base::printable(pattern) + "\" is no regular expression: " + compiled.error();
}

const std::string& files_of(const check& what) {
  return std::visit([](const auto& c) -> const std::string& { return c.files; }, what);
}

}  // namespace

std::string_view name_of(const check& what) noexcept {
  constexpr const char* names[] = {"exists",   "absent", "matches",    "lacks",
                                   "max_size", "count",  "json_valid", "toml_valid"};
  return names[what.index()];
}

std::optional<std::string> find_problem(const check& what) {
  if (files_of(what).empty()) return std::string(name_of(what)) + " names no files";
  if (files_of(what).find('\0') != std::string::npos) return "has a NUL byte";
  if (!can_expand(files_of(what))) {
    return "\"" + base::printable(files_of(what)) + "\" stands for more than 1000 patterns";
  }
  if (const auto* c = std::get_if<matches>(&what)) return pattern_problem(c->pattern);
  if (const auto* c = std::get_if<lacks>(&what)) return pattern_problem(c->pattern);
  if (const auto* c = std::get_if<count>(&what); c != nullptr && c->at_most < c->at_least) {
    if (c->at_most) return "max is less than min";
  }
  return std::nullopt;
}

rule_result perform(const check& what, const std::string& directory, const std::stop_token& stop) {
  performer looks(directory, stop);
  rule_result found = std::visit(looks, what);
  // What was not looked at must not count as absent.
  if (stop.stop_requested()) return fail_rule("stopped");
  const bool is_sure = looks.unreadable().empty() || std::holds_alternative<exists>(what);
  if (!found.passed || is_sure) return found;
  return fail_rule("cannot look into " + base::printable(looks.unreadable().front()) +
                   "; make it readable, or name what is to be looked at");
}

}  // namespace weft::batch
