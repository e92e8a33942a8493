#include <weft/batch/plan_file.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include <toml++/toml.h>

#include <weft/base/units.hpp>
#include <weft/base/utf8.hpp>

#include "base/nearest.hpp"
#include "batch/durable_file.hpp"
#include "batch/validity.hpp"

namespace weft::batch {
namespace {

constexpr std::size_t file_bytes_max = std::size_t{64} << 20U;
constexpr std::size_t problems_max = 20;

using keys = std::span<const std::string_view>;
constexpr std::array<std::string_view, 3> plan_keys = {"plan", "batch", "rule"};
constexpr std::array<std::string_view, 2> header_keys = {"name", "cwd"};
constexpr std::array<std::string_view, 3> batch_keys = {"id", "name", "after"};
constexpr std::array<std::string_view, 18> rule_keys = {
    "id",      "name",        "batch", "after", "command", "shell",  "check",  "cost", "timeout",
    "retries", "retry_delay", "env",   "cwd",   "inputs",  "weight", "memory", "tags", "severity"};
constexpr std::array<std::string_view, 8> check_names = {
    "exists", "absent", "matches", "lacks", "max_size", "count", "json_valid", "toml_valid"};
constexpr std::array<std::string_view, 11> check_keys = {
    "exists", "absent",     "matches",    "lacks", "max_size", "count",
    "min",    "json_valid", "toml_valid", "files", "max"};

struct place {
  toml::source_index line = 1;
  toml::source_index column = 1;
};

place place_of(const toml::node& node) {
  return {node.source().begin.line, node.source().begin.column};
}

std::string in_quotes(std::string_view text) { return "\"" + base::printable(text) + "\""; }

// Takes a plan out of a TOML document and notes everything that is wrong with it.
class reader {
 public:
  reader(std::string origin, const std::string& directory) : origin_(std::move(origin)) {
    plan_.set_directory(directory);
    plan_.set_name(std::filesystem::path(origin_).stem().string());
  }

  result<plan> read(const toml::table& document) {
    expect_keys(document, "", plan_keys);
    if (const auto* header = table_in(document, "plan")) read_header(*header);
    for_each_table(document, "batch", [this](const toml::table& table) { read_batch(table); });
    for_each_table(document, "rule", [this](const toml::table& table) { read_rule(table); });
    // Names and cycles are looked at only when every rule could be read: one that is missing would
    // make others look wrong.
    if (problems_ == 0) {
      for (const plan_problem& problem : find_problems(plan_)) {
        report(place_of(problem), subject_of(problem.where), problem.field, problem.message);
      }
    }
    if (problems_ == 0) return std::move(plan_);
    if (problems_ > problems_max) {
      text_ += "\nand " + std::to_string(problems_ - problems_max) + " more";
    }
    return fail(error_kind::bad_data, text_);
  }

 private:
  using positions = std::map<std::string, place, std::less<>>;

  void report(place at, const std::string& subject, std::string_view key,
              const std::string& message) {
    if (++problems_ > problems_max) return;
    if (!text_.empty()) text_ += '\n';
    text_ += base::printable(origin_) + ":" + std::to_string(at.line) + ":" +
             std::to_string(at.column) + ": ";
    if (!subject.empty()) text_ += subject + ": ";
    if (!key.empty()) (text_ += key) += ": ";
    text_ += message;
  }

  static std::string subject_of(const std::string& id) {
    return id.empty() ? std::string() : in_quotes(id);
  }

  [[nodiscard]] place place_of(const plan_problem& problem) const {
    const auto found = where_.find(problem.where);
    if (found == where_.end()) return {};
    const auto field = found->second.find(problem.field);
    return field != found->second.end() ? field->second : found->second.at("");
  }
  static place place_of(const toml::node& node) { return batch::place_of(node); }

  // Where the keys of a rule or batch are, for problems that are found later.
  void remember(const std::string& id, const toml::table& table) {
    positions& at = where_[id];
    at[""] = place_of(table);
    for (const auto& [key, value] : table) at[std::string(key.str())] = place_of(value);
  }

  void expect_keys(const toml::table& table, const std::string& subject, keys known) {
    for (const auto& [key, value] : table) {
      if (std::ranges::find(known, key.str()) != known.end()) continue;
      const std::string_view meant = base::nearest(key.str(), known);
      std::string message = "there is no such key";
      if (!meant.empty()) {
        message += "; did you mean " + in_quotes(meant) + "?";
      } else {
        message += "; there are ";
        for (std::size_t i = 0; i < known.size(); ++i) (message += i == 0 ? "" : ", ") += known[i];
      }
      report({key.source().begin.line, key.source().begin.column}, subject,
             base::printable(key.str()), message);
    }
  }

  const toml::table* table_in(const toml::table& document, std::string_view key) {
    const toml::node* const node = document.get(key);
    if (node == nullptr) return nullptr;
    if (node->is_table()) return node->as_table();
    report(place_of(*node), "", key, "must be a table: write [" + std::string(key) + "]");
    return nullptr;
  }

  template <class Visit>
  void for_each_table(const toml::table& document, std::string_view key, Visit visit) {
    const toml::node* const node = document.get(key);
    if (node == nullptr) return;
    const toml::array* const array = node->as_array();
    if (array == nullptr) {
      report(place_of(*node), "", key, "must be a list: write [[" + std::string(key) + "]]");
      return;
    }
    for (const toml::node& each : *array) {
      if (const toml::table* const table = each.as_table()) {
        visit(*table);
      } else {
        report(place_of(each), "", key,
               "must be a list of tables: write [[" + std::string(key) + "]]");
      }
    }
  }

  void read_header(const toml::table& table) {
    expect_keys(table, "plan", header_keys);
    std::string name;
    read_text(table, "plan", "name", name);
    if (!name.empty()) plan_.set_name(name);
    std::string cwd;
    read_text(table, "plan", "cwd", cwd);
    if (cwd.empty()) return;
    if (cwd.find('\0') != std::string::npos) {
      report(place_of(*table.get("cwd")), "plan", "cwd", "has a NUL byte");
      return;
    }
    // An absolute one replaces the directory of the file.
    plan_.set_directory((std::filesystem::path(plan_.directory()) / cwd).string());
  }

  // The id of a batch or rule, and what messages about it begin with.
  std::string read_id(const toml::table& table, const char* kind, keys known, std::string& id) {
    read_text(table, kind, "id", id);
    if (!table.contains("id")) report(place_of(table), kind, "id", "is missing");
    remember(id, table);
    std::string subject = id.empty() ? kind : in_quotes(id);
    expect_keys(table, subject, known);
    return subject;
  }

  void read_batch(const toml::table& table) {
    batch_info made;
    const std::string subject = read_id(table, "batch", batch_keys, made.id);
    read_text(table, subject, "name", made.name);
    read_texts(table, subject, "after", made.after);
    plan_.add_batch(std::move(made));
  }

  void read_rule(const toml::table& table) {
    rule made;
    const std::string subject = read_id(table, "rule", rule_keys, made.id);
    read_text(table, subject, "name", made.name);
    read_text(table, subject, "batch", made.batch);
    read_texts(table, subject, "after", made.after);
    read_command(table, subject, made);
    read_text(table, subject, "shell", made.shell);
    if (const toml::node* const node = table.get("check")) read_check(*node, subject, made);
    read_duration(table, subject, "cost", made.cost);
    read_duration(table, subject, "timeout", made.timeout);
    read_duration(table, subject, "retry_delay", made.retry_delay);
    read_count(table, subject, "retries", made.retries, 0, 100);
    read_count(table, subject, "weight", made.weight, 1, 1024);
    read_env(table, subject, made);
    read_text(table, subject, "cwd", made.cwd);
    read_texts(table, subject, "inputs", made.inputs);
    if (const toml::node* const node = table.get("memory")) {
      if (const auto size = size_of(*node, subject, "memory")) made.memory = *size;
    }
    read_texts(table, subject, "tags", made.tags);
    read_severity(table, subject, made);
    plan_.add(std::move(made));
  }

  void read_text(const toml::table& table, const std::string& subject, std::string_view key,
                 std::string& to) {
    const toml::node* const node = table.get(key);
    if (node == nullptr) return;
    if (const auto text = node->value_exact<std::string>()) {
      to = *text;
    } else {
      report(place_of(*node), subject, key, "must be a text in quotes");
    }
  }

  void read_texts(const toml::table& table, const std::string& subject, std::string_view key,
                  std::vector<std::string>& to) {
    const toml::node* const node = table.get(key);
    if (node == nullptr) return;
    const toml::array* const array = node->as_array();
    if (array == nullptr) {
      const auto single = node->value_exact<std::string>();
      report(place_of(*node), subject, key,
             "must be a list of texts: write [" + (single ? in_quotes(*single) : "\"...\"") + "]");
      return;
    }
    for (const toml::node& each : *array) {
      if (const auto text = each.value_exact<std::string>()) {
        to.push_back(*text);
      } else {
        report(place_of(each), subject, key, "must be a list of texts");
      }
    }
  }

  void read_command(const toml::table& table, const std::string& subject, rule& to) {
    const toml::node* const node = table.get("command");
    if (node == nullptr) return;
    if (const auto line = node->value_exact<std::string>()) {
      report(place_of(*node), subject, "command",
             "must be a list, one text for each argument; a line for the shell is written as "
             "shell = " +
                 in_quotes(*line));
      return;
    }
    read_texts(table, subject, "command", to.command);
    const toml::array* const array = node->as_array();
    if (array != nullptr && array->empty()) {
      report(place_of(*node), subject, "command", "is empty; it needs at least a program");
    }
  }

  void read_duration(const toml::table& table, const std::string& subject, std::string_view key,
                     std::chrono::nanoseconds& to) {
    const toml::node* const node = table.get(key);
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string>();
    const auto parsed = text ? parse_duration(*text) : std::nullopt;
    if (parsed && (parsed->count() > 0 || key == "retry_delay")) {
      to = *parsed;
    } else if (parsed) {
      report(place_of(*node), subject, key, "must be more than 0; leave it out for none");
    } else {
      report(place_of(*node), subject, key,
             "must be a duration with its unit, such as \"30s\", \"500ms\" or \"1h30m\"");
    }
  }

  void read_count(const toml::table& table, const std::string& subject, std::string_view key,
                  unsigned& to, unsigned least, unsigned most) {
    const toml::node* const node = table.get(key);
    if (node == nullptr) return;
    const auto number = node->value_exact<std::int64_t>();
    if (number && *number >= least && *number <= most) {
      to = static_cast<unsigned>(*number);
    } else {
      report(place_of(*node), subject, key,
             "must be a whole number between " + std::to_string(least) + " and " +
                 std::to_string(most));
    }
  }

  std::optional<std::uint64_t> size_of(const toml::node& node, const std::string& subject,
                                       std::string_view key) {
    if (const auto number = node.value_exact<std::int64_t>(); number && *number >= 0) {
      return static_cast<std::uint64_t>(*number);
    }
    const auto text = node.value_exact<std::string>();
    if (const auto parsed = text ? parse_size(*text) : std::nullopt) return parsed;
    report(place_of(node), subject, key, "must be a size such as \"512 MiB\", or bytes");
    return std::nullopt;
  }

  void read_env(const toml::table& table, const std::string& subject, rule& to) {
    const toml::node* const node = table.get("env");
    if (node == nullptr) return;
    const toml::table* const variables = node->as_table();
    if (variables == nullptr) {
      report(place_of(*node), subject, "env", "must be a table: write { NAME = \"value\" }");
      return;
    }
    for (const auto& [name, value] : *variables) {
      if (const auto text = value.value_exact<std::string>()) {
        to.env.emplace_back(std::string(name.str()), *text);
      } else {
        report(place_of(value), subject, "env." + base::printable(name.str()),
               "must be a text in quotes");
      }
    }
  }

  void read_severity(const toml::table& table, const std::string& subject, rule& to) {
    const toml::node* const node = table.get("severity");
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string>();
    if (text == "warn") {
      to.severity = severity::warn;
    } else if (text != "fail") {
      report(place_of(*node), subject, "severity", "must be \"fail\" or \"warn\"");
    }
  }

  void read_check(const toml::node& node, const std::string& subject, rule& to) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      report(place_of(node), subject, "check",
             "must be a table such as { exists = \"README.md\" }");
      return;
    }
    expect_keys(*table, subject + ": check", check_keys);
    std::vector<std::string_view> named;
    for (const std::string_view name : check_names) {
      if (table->contains(name)) named.push_back(name);
    }
    if (named.size() != 1) {
      report(place_of(node), subject, "check",
             "needs exactly one of exists, absent, matches, lacks, max_size, count, json_valid, "
             "toml_valid");
      return;
    }
    to.check = make_check(*table, subject, named.front());
  }

  std::optional<check> make_check(const toml::table& table, const std::string& subject,
                                  std::string_view name) {
    const std::string key = "check." + std::string(name);
    const bool has_files = name == "matches" || name == "lacks" || name == "max_size";
    std::string files;
    read_text(table, subject, "files", files);
    if (has_files && !table.contains("files")) {
      report(place_of(table), subject, key, "needs files = \"a path or pattern\"");
      return std::nullopt;
    }
    if (!has_files && table.contains("files")) {
      report(place_of(*table.get("files")), subject, "check.files",
             "belongs to matches, lacks and max_size; write " + std::string(name) +
                 " = \"the path or pattern\"");
      return std::nullopt;
    }
    if (name != "count" && (table.contains("min") || table.contains("max"))) {
      report(place_of(table), subject, "check", "min and max belong to count");
      return std::nullopt;
    }
    if (name == "max_size") {
      const auto bytes = size_of(*table.get(name), subject, key);
      return bytes ? std::optional<check>(max_size{*bytes, files}) : std::nullopt;
    }
    std::string text;
    read_text(table, subject, name, text);
    if (name == "exists") return exists{text};
    if (name == "absent") return absent{text};
    if (name == "matches") return matches{text, files};
    if (name == "lacks") return lacks{text, files};
    if (name == "json_valid") return json_valid{text};
    if (name == "toml_valid") return toml_valid{text};
    return make_count(table, subject, text);
  }

  check make_count(const toml::table& table, const std::string& subject, const std::string& files) {
    constexpr unsigned most = 1'000'000'000;
    count made{.files = files};
    unsigned number = 0;
    if (!table.contains("min") && !table.contains("max")) {
      report(place_of(table), subject, "check.count", "needs min or max, or both");
    }
    if (table.contains("min")) {
      read_count(table, subject, "min", number, 0, most);
      made.at_least = number;
    }
    if (table.contains("max")) {
      read_count(table, subject, "max", number, 0, most);
      made.at_most = number;
    }
    return made;
  }

  std::string origin_;
  plan plan_;
  std::string text_;
  std::size_t problems_ = 0;
  std::unordered_map<std::string, positions> where_;
};

// Whether a line means something else to a shell than to us: it has a character that does, or its
// first word is no program.
bool needs_shell(std::string_view line, std::string_view first_word) {
  constexpr std::array<std::string_view, 37> shell_words = {
      "!",        ".",        ":",       "alias", "bg",     "break", "case",   "cd",
      "command",  "continue", "do",      "eval",  "exec",   "exit",  "export", "fc",
      "fg",       "for",      "getopts", "hash",  "if",     "jobs",  "local",  "read",
      "readonly", "return",   "set",     "shift", "source", "times", "trap",   "type",
      "ulimit",   "umask",    "unset",   "until", "while"};
  return line.find_first_of("|&;<>()$`\\\"'*?[]#~=%!{}^\n") != std::string_view::npos ||
         std::ranges::find(shell_words, first_word) != shell_words.end();
}

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    words.emplace_back(line.substr(0, line.find_first_of(" \t")));
    line.remove_prefix(words.back().size());
  }
  return words;
}

}  // namespace

result<plan> load_plan(const std::string& path) {
  auto text = detail::read_regular_file(path, file_bytes_max);
  if (!text) return tl::unexpected<error>(text.error());
  if (text->size() > file_bytes_max) {
    return fail(error_kind::bad_data, path + ": is larger than " + format_size(file_bytes_max));
  }
  return parse_plan(*text, path, std::filesystem::path(path).parent_path().string());
}

result<plan> parse_plan(std::string_view text, const std::string& origin,
                        const std::string& directory) {
  if (const auto line = line_of_endless_key(text)) {
    return fail(error_kind::bad_data, base::printable(origin) + ":" + std::to_string(*line) +
                                          ":1: a key of more than 1000 parts");
  }
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& problem = parsed.error();
    return fail(error_kind::bad_data,
                base::printable(origin) + ":" + std::to_string(problem.source().begin.line) + ":" +
                    std::to_string(problem.source().begin.column) +
                    ": this is no TOML: " + base::printable(problem.description()));
  }
  return reader(origin, directory).read(parsed.table());
}

result<plan> plan_of_commands(std::string_view text) {
  plan made("-");
  std::unordered_map<std::string, unsigned> taken;  // ids, and the last number given to each
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::vector<std::string> words = split_words(line);
    if (words.empty() || words[0].front() == '#') continue;
    if (line.find('\0') != std::string_view::npos) {
      return fail(error_kind::bad_data,
                  "standard input:" + std::to_string(number) + ": has a NUL byte");
    }
    rule r;
    constexpr std::size_t id_max = 200;
    const std::string text_shown = base::printable(line.substr(0, id_max));
    r.id = text_shown;
    auto [at, is_free] = taken.try_emplace(r.id, 1);
    for (unsigned& last = at->second; !is_free; is_free = taken.try_emplace(r.id, 1).second) {
      r.id = text_shown + " #" + std::to_string(++last);
    }
    if (needs_shell(line, words[0])) {
      r.shell = std::string(line);
    } else {
      r.command = words;
    }
    made.add(std::move(r));
  }
  return made;
}

}  // namespace weft::batch
