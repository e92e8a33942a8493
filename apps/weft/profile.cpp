#include "profile.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/base/utf8.hpp>
#include <weft/batch/plan_file.hpp>
#include <weft/batch/profile_store.hpp>

#include "arguments.hpp"
#include "exit_code.hpp"
#include "show.hpp"

namespace weft::cli {
namespace {

using batch::loaded_profiles;
using batch::profile;
using batch::profile_key;
using batch::profiles;
using nlohmann::ordered_json;

constexpr const char* default_file = ".weft/profiles.json";

int refuse(const error& problem) {
  std::cerr << "weft profile: " << problem.message << '\n';
  return static_cast<int>(problem.kind);
}

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    std::cerr << "weft profile: warning: " << warning << '\n';
  }
}

int finish_output() {
  if (std::cout.flush()) return exit_code::ok;
  std::cerr << "weft profile: cannot write to standard output\n";
  return exit_code::io_error;
}

// --- show --------------------------------------------------------------------------------------

struct row {
  const profile_key* key = nullptr;
  const profile* values = nullptr;
  double estimate = 0;
};

// The most expensive first: these are what a run waits for.
std::vector<row> rows_of(const profiles& shown) {
  std::vector<row> rows;
  rows.reserve(shown.size());
  for (const auto& [key, values] : shown.entries()) {
    rows.push_back({&key, &values, values.estimate()});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const row& a, const row& b) { return a.estimate > b.estimate; });
  return rows;
}

struct unit {
  double size;
  const char* name;
};

// Three digits and the unit that makes the number smallest, but not below one.
std::string with_unit(double value, const std::vector<unit>& largest_first) {
  const unit* chosen = &largest_first.back();
  for (const unit& candidate : largest_first) {
    // 999.9 of the smaller one would be written as 1000.
    if (value >= candidate.size * .9995) {
      chosen = &candidate;
      break;
    }
  }
  std::array<char, 48> text{};
  static_cast<void>(
      std::snprintf(text.data(), text.size(), "%.3g %s", value / chosen->size, chosen->name));
  return text.data();
}

std::string duration_text(double seconds) {
  if (seconds == 0) return "0";
  if (seconds >= 999.5) return std::to_string(std::llround(seconds)) + " s";
  return with_unit(seconds, {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}});
}

std::string memory_text(std::uint64_t bytes) {
  if (bytes == 0) return "-";
  return with_unit(static_cast<double>(bytes), {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}});
}

using line = std::array<std::string, 11>;

line line_of(const row& shown) {
  const profile& p = *shown.values;
  const bool is_known = p.n > 0;
  const auto time = [is_known](double seconds) {
    return is_known ? duration_text(seconds) : std::string("-");
  };
  return {base::printable(shown.key->rule),
          shown.key->input_class.empty() ? "-" : base::printable(shown.key->input_class),
          std::to_string(p.n),
          time(shown.estimate),
          time(p.p50()),
          time(p.p90()),
          time(p.min),
          time(p.max),
          time(p.std_dev()),
          memory_text(p.peak_rss()),
          std::to_string(p.failures)};
}

void print_table(const std::vector<row>& rows) {
  std::vector<line> lines{
      {"rule", "class", "n", "estimate", "p50", "p90", "min", "max", "sd", "peak RSS", "failures"}};
  for (const row& shown : rows) lines.push_back(line_of(shown));
  std::array<std::size_t, std::tuple_size_v<line>> widths{};
  for (const line& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(cells[i]));
    }
  }
  constexpr std::size_t names = 2;  // which begin at the left, as numbers end at the right
  for (const line& cells : lines) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - width_of(cells[i]), ' ');
      text += i == 0 ? "" : "  ";
      text += i < names ? cells[i] + padding : padding + cells[i];
    }
    std::cout << text << '\n';
  }
}

ordered_json to_json(const row& shown) {
  const profile& p = *shown.values;
  ordered_json object;
  object["rule"] = shown.key->rule;
  object["class"] = shown.key->input_class;
  object["n"] = p.n;
  object["estimate"] = shown.estimate;
  object["mean"] = p.mean;
  object["p50"] = p.p50();
  object["p90"] = p.p90();
  object["min"] = p.min;
  object["max"] = p.max;
  object["std_dev"] = p.std_dev();
  object["peak_rss"] = p.peak_rss();
  object["failures"] = p.failures;
  object["timeouts"] = p.timeouts;
  object["last_updated"] = p.last_updated();
  return object;
}

struct show_options {
  std::string file = default_file;
  std::string format = "text";
};

int show(const show_options& given) {
  const auto read = batch::read_profiles(given.file);
  if (!read) return refuse(read.error());
  warn(read->warnings);
  const std::vector<row> rows = rows_of(read->values);
  if (given.format == "json") {
    ordered_json objects = ordered_json::array();
    for (const row& shown : rows) objects.push_back(to_json(shown));
    std::cout << objects.dump(2) << '\n';
  } else if (rows.empty()) {
    std::cout << base::printable(given.file) << " has no profiles yet\n";
  } else {
    print_table(rows);
  }
  return finish_output();
}

// --- merge and import --------------------------------------------------------------------------

// All of them or an error.
result<profiles> read_together(const std::vector<std::string>& files) {
  profiles together;
  for (const std::string& file : files) {
    const auto read = batch::read_profiles(file);
    if (!read) return tl::unexpected(read.error());
    warn(read->warnings);
    together.merge(read->values);
  }
  return together;
}

int report_written(const result<batch::written_profiles>& written, const std::string& done) {
  if (!written) return refuse(written.error());
  warn(*written);
  std::cout << done << '\n';
  return finish_output();
}

struct merge_options {
  std::string out;
  std::vector<std::string> in;
};

int merge(const merge_options& given) {
  // A slip of the order must not cost a file that is something else.
  const auto replaced = batch::read_profiles(given.out);
  if (!replaced && replaced.error().kind == error_kind::bad_data) return refuse(replaced.error());
  if (replaced && replaced->read_only) {
    warn(replaced->warnings);
    return exit_code::bad_data;
  }
  const auto together = read_together(given.in);
  if (!together) return refuse(together.error());
  return report_written(batch::save_profiles(given.out, *together),
                        base::printable(given.out) + ": " + counted(together->size(), "profile") +
                            " from " + counted(given.in.size(), "file"));
}

struct import_options {
  std::vector<std::string> files;
  std::string into = default_file;
};

int import(const import_options& given) {
  const auto together = read_together(given.files);
  if (!together) return refuse(together.error());
  return report_written(batch::add_to_profiles(given.into, *together),
                        base::printable(given.into) + ": added " +
                            counted(together->size(), "profile") + " from " +
                            counted(given.files.size(), "file"));
}

// --- prune ---------------------------------------------------------------------------------------

struct prune_options {
  std::string file = default_file;
  std::vector<std::string> plans;
  std::string older;
  bool dry_run = false;
};

int prune(const prune_options& given) {
  if (given.plans.empty() && given.older.empty()) {
    std::cerr << "weft profile prune: say what to take out, with --plan or --older\n";
    return exit_code::usage;
  }
  std::set<std::string> known;
  for (const std::string& file : given.plans) {
    const auto read = batch::load_plan(file);
    if (!read) return refuse(read.error());
    for (const rule& each : read->rules()) known.insert(each.id);
  }
  const auto now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch());
  const auto age_max = parse_duration(given.older);
  const auto drops = [&](const profile_key& key, const profile& values) {
    const bool is_foreign = !given.plans.empty() && !known.contains(key.rule);
    const bool is_old = age_max && now.count() - values.last_updated() >
                                       std::chrono::duration<double>(*age_max).count();
    return is_foreign || is_old;
  };
  // A file that is not there is no mistake of a cleaner, but worth a word of a user.
  const auto present = batch::read_profiles(given.file);
  if (!present) return refuse(present.error());
  batch::pruned_profiles done;
  if (given.dry_run) {
    for (const auto& [key, values] : present->values.entries()) {
      if (drops(key, values)) {
        done.dropped.push_back(key);
      } else {
        ++done.kept;
      }
    }
  } else {
    auto pruned = batch::prune_profiles(given.file, drops);
    if (!pruned) return refuse(pruned.error());
    done = std::move(*pruned);
  }
  warn(done.warnings);
  for (const profile_key& key : done.dropped) {
    std::cout << base::printable(key.rule)
              << (key.input_class.empty() ? "" : "  " + base::printable(key.input_class)) << '\n';
  }
  std::cout << base::printable(given.file) << ": " << counted(done.dropped.size(), "profile")
            << (given.dry_run ? " would be taken out, " : " taken out, ") << done.kept << " kept\n";
  return finish_output();
}

// --- The commands --------------------------------------------------------------------------------

constexpr const char* epilogue =
    R"(weft run learns what rules cost and keeps it in .weft/profiles.json. Files of
other machines or branches merge exactly: the result is that of one machine that
had seen every run. The rule_execution_profiles.json of the validator from which
the idea comes is understood wherever a file is read.

Example:
  weft profile show
  weft profile show --format json .weft/profiles.json
  weft profile merge all.json shard-1.json shard-2.json
  weft profile import rule_execution_profiles.json
  weft profile prune --plan plan.toml --older 90d

Exit status: 0, 2 for wrong usage, 65 for a file that is not a profile file or
is of a newer version, 66 for a missing file, 73 when a file cannot be created,
74 when reading or writing fails, 77 for missing permission, a link, or a file
of another user.)";

constexpr const char* show_epilogue =
    R"(The most expensive rule comes first. estimate is what a rule will cost next, by
its last 12 runs, later ones heavier; p50, p90 and peak RSS are of these, too.
n, min, max and sd (standard deviation) are of all runs that were ever seen.
Times are in seconds in JSON.)";

void add_show(CLI::App& parent, int& status) {
  const auto given = std::make_shared<show_options>();
  CLI::App& command = *parent.add_subcommand("show", "Show what rules cost");
  command.add_option("FILE", given->file, "Profile file")->option_text("[.weft/profiles.json]");
  command.add_option("--format", given->format, "How to show it")
      ->option_text("text|json [text]")
      ->check(CLI::IsMember({"text", "json"}));
  command.footer(show_epilogue);
  command.callback([given, &status] { status = show(*given); });
}

void add_merge(CLI::App& parent, int& status) {
  const auto given = std::make_shared<merge_options>();
  CLI::App& command =
      *parent.add_subcommand("merge", "Replace OUT by what all of IN know together");
  command.add_option("OUT", given->out, "File to write; if it is there, a profile file")
      ->required()
      ->option_text(" ");
  command.add_option("IN", given->in, "Files to merge")->required()->option_text("...");
  command.footer("What OUT knew before is gone, unless it is one of IN. See weft profile import.");
  command.callback([given, &status] { status = merge(*given); });
}

void add_import(CLI::App& parent, int& status) {
  const auto given = std::make_shared<import_options>();
  CLI::App& command = *parent.add_subcommand("import", "Add what other files know to the profiles");
  command.add_option("FILE", given->files, "Files to add")->required()->option_text("...");
  command.add_option("--into", given->into, "Profile file to add to")
      ->option_text("FILE [.weft/profiles.json]");
  command.footer("Runs may go on meanwhile. A file that is imported twice counts twice.");
  command.callback([given, &status] { status = import(*given); });
}

void add_prune(CLI::App& parent, int& status) {
  const auto given = std::make_shared<prune_options>();
  CLI::App& command = *parent.add_subcommand("prune", "Take out what is not needed any more");
  command.add_option("FILE", given->file, "Profile file")->option_text("[.weft/profiles.json]");
  command.add_option("--plan", given->plans, "Keep the rules of these plans alone")
      ->option_text("PLAN...");
  command.add_option("--older", given->older, "Take out what has not run for so long")
      ->option_text("DURATION")
      ->check(duration());
  command.add_flag("--dry-run", given->dry_run, "Only say what would be taken out");
  command.footer("Runs may go on meanwhile. With both, what either of them says is taken out.");
  command.callback([given, &status] { status = prune(*given); });
}

}  // namespace

void add_profile(CLI::App& app, int& status) {
  CLI::App& command =
      *app.add_subcommand("profile", "Show, merge and prune learned costs of rules");
  command.footer(epilogue);
  // CLI11 could ask for a command itself, but would not say which word it took for one.
  command.callback([&command] {
    if (!command.get_subcommands().empty()) return;
    throw CLI::ValidationError("profile", "expected show, merge, import or prune");
  });
  add_show(command, status);
  add_merge(command, status);
  add_import(command, status);
  add_prune(command, status);
}

}  // namespace weft::cli
