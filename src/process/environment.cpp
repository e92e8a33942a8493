#include "process/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/text.hpp"

namespace weft::process {
namespace {

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

}  // namespace

environment::environment() {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (name_of(text) != mark_name) {
      inherited_.emplace_back(text);
    } else if (const std::size_t equals = text.find('='); equals + 1 < text.size()) {
      outer_marks_ = std::string(text.substr(equals + 1)) + ":";
    }
  }
}

environment::block environment::with(const std::vector<std::pair<std::string, std::string>>& added,
                                     const std::string& mark) const {
  block made;
  made.own.reserve(added.size() + 1);  // pointers into its strings are handed out below
  for (const auto& [name, value] : added) made.own.push_back(name + "=" + value);
  made.own.push_back(mark_name + ("=" + outer_marks_) + mark);
  made.pointers.reserve(inherited_.size() + made.own.size() + 1);

  const auto is_replaced = [&](std::string_view name, auto first_to_ask) {
    return std::any_of(first_to_ask, made.own.end(),
                       [&](const std::string& other) { return name_of(other) == name; });
  };
  const auto add = [&](const std::string& variable) {
    // execve() takes them as char* and writes to none.
    made.pointers.push_back(const_cast<char*>(variable.c_str()));
    constexpr std::string_view path = "PATH=";
    if (variable.starts_with(path)) made.path = variable.c_str() + path.size();
  };
  for (const std::string& variable : inherited_) {
    if (added.empty() || !is_replaced(name_of(variable), made.own.begin())) add(variable);
  }
  for (auto variable = made.own.begin(); variable != made.own.end(); ++variable) {
    if (!is_replaced(name_of(*variable), variable + 1)) add(*variable);
  }
  made.pointers.push_back(nullptr);
  return made;
}

bool has_mark(const std::string& marks, const std::string& mark) {
  const auto all = base::split(marks, ':');
  return std::find(all.begin(), all.end(), mark) != all.end();
}

}  // namespace weft::process
