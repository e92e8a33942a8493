#include "unexpected.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <weft/base/utf8.hpp>

#include "base/nearest.hpp"

namespace weft::cli {
namespace {

bool is_option(const std::string& argument) {
  return argument.size() > 1 && argument.front() == '-';
}

// Every way in which an option or a command can be written.
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* const each : command.get_subcommands({})) names.push_back(each->get_name());
  return names;
}

}  // namespace

std::string explain_unexpected(const CLI::App& app) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  // An option that is not known leaves its value behind too, so the option is what to talk about.
  const std::vector<std::string> rest = app.remaining(true);
  const auto option = std::ranges::find_if(rest, is_option);
  const bool wants_option = option != rest.end();
  const std::vector<std::string> known =
      wants_option ? options_of(*command) : commands_of(*command);
  std::string given = wants_option ? *option : rest.front();
  if (wants_option) given.resize(std::min(given.size(), given.find('=')));

  std::string text = name + ": ";
  if (wants_option) {
    text += "there is no option " + base::printable(given);
  } else if (known.empty()) {
    text += "there is one argument too many: " + base::printable(given);
  } else {
    text += "there is no command " + base::printable(given);
  }
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const std::string_view meant = base::nearest(given, candidates);
  if (!meant.empty()) (text += "; did you mean ").append(meant) += '?';
  return text + "\n" + name + " --help tells more\n";
}

}  // namespace weft::cli
