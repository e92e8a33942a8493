#include <weft/batch/plan.hpp>

#include <string_view>
#include <utility>

#include <weft/base/utf8.hpp>
#include <weft/batch/graph.hpp>

#include "batch/wiring.hpp"

namespace weft {
namespace {

constexpr std::size_t id_bytes_max = 1024;
constexpr unsigned retries_max = 100;

class finder {
 public:
  std::vector<plan_problem> problems;

  void look_at(const rule& r) {
    where_ = r.id;
    look_at_id(r.id);
    look_at_body(r);
    expect(r.cost.count() >= 0, "cost", "must not be negative");
    expect(r.timeout.count() >= 0, "timeout", "must not be negative");
    expect(r.retry_delay.count() >= 0, "retry_delay", "must not be negative");
    expect(r.retries <= retries_max, "retries", "must be between 0 and 100");
    expect(r.weight >= 1, "weight", "must be at least 1");
    expect(r.cwd.find('\0') == std::string::npos, "cwd", "has a NUL byte");
    for (const auto& [name, value] : r.env) look_at_variable(name, value);
  }

  void look_at(const batch_info& batch) {
    where_ = batch.id;
    look_at_id(batch.id);
  }

 private:
  void expect(bool fine, const char* field, std::string message) {
    if (!fine) problems.push_back({where_, field, std::move(message)});
  }

  void look_at_id(const std::string& id) {
    expect(!id.empty(), "id", "is missing");
    expect(id.size() <= id_bytes_max, "id", "is longer than 1024 bytes");
    expect(base::is_utf8(id), "id", "is not UTF-8");
    expect(!base::has_control(id), "id", "has a control character");
  }

  void look_at_body(const rule& r) {
    std::string bodies;
    const auto add = [&](bool present, std::string_view name) {
      if (present) (bodies += bodies.empty() ? "" : ", ") += name;
    };
    add(static_cast<bool>(r.run), "run");
    add(!r.command.empty(), "command");
    add(!r.shell.empty(), "shell");
    add(r.check.has_value(), "check");
    expect(!bodies.empty(), "command", "is missing; a rule needs one of command, shell, check");
    expect(bodies.find(',') == std::string::npos, "command", "a rule has one of " + bodies);

    if (!r.command.empty()) expect(!r.command[0].empty(), "command", "has no program");
    for (const std::string& argument : r.command) {
      expect(argument.find('\0') == std::string::npos, "command", "has a NUL byte");
    }
    expect(r.shell.find('\0') == std::string::npos, "shell", "has a NUL byte");
    if (r.check) {
      if (auto problem = batch::find_problem(*r.check)) expect(false, "check", *problem);
    }
  }

  void look_at_variable(const std::string& name, const std::string& value) {
    expect(!name.empty() && name.find('=') == std::string::npos, "env",
           "\"" + base::printable(name) + "\" is no name of a variable");
    expect((name + value).find('\0') == std::string::npos, "env", "has a NUL byte");
  }

  std::string where_;
};

std::string list(const std::vector<plan_problem>& problems) {
  constexpr std::size_t shown_max = 20;
  std::string text;
  for (std::size_t i = 0; i < problems.size() && i < shown_max; ++i) {
    const plan_problem& problem = problems[i];
    if (i > 0) text += '\n';
    if (!problem.where.empty()) text += base::printable(problem.where) + ": ";
    text += problem.field + ": " + problem.message;
  }
  if (problems.size() > shown_max) {
    text += "\nand " + std::to_string(problems.size() - shown_max) + " more";
  }
  return text;
}

}  // namespace

std::vector<plan_problem> find_problems(const plan& checked) {
  const batch::wiring wires = batch::wire(checked);
  return problems_of(checked, wires, batch::topological_order(wires.node_count(), wires.edges));
}

std::vector<plan_problem> batch::problems_of(const plan& of, const wiring& wires,
                                             const std::vector<node>& order) {
  finder found;
  for (const batch_info& batch : of.batches()) found.look_at(batch);
  for (const rule& r : of.rules()) found.look_at(r);
  found.problems.insert(found.problems.end(), wires.problems.begin(), wires.problems.end());
  if (order.size() < wires.node_count()) {
    found.problems.push_back(describe_cycle(of, wires, order));
  }
  return std::move(found.problems);
}

plan_error::plan_error(std::vector<plan_problem> problems)
    : std::invalid_argument(list(problems)), problems_(std::move(problems)) {}

}  // namespace weft
