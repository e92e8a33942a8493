#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/batch/rule.hpp>

namespace weft {

// A group of rules. Others may come after all of it.
struct batch_info {
  std::string id;
  std::string name = {};
  std::vector<std::string> after = {};  // batches; every rule of this one waits for all of theirs
};

// Rules, the batches they belong to, and what comes after what.
//
//   weft::plan p;
//   p.add({.id = "AR001", .run = check_root});
//   p.add({.id = "AR006", .after = {"AR001"}, .run = check_readme});
//   weft::run_report report = weft::run(p, {.workers = 8});
//
// Nothing is checked until find_problems() or run().
class plan {
 public:
  plan() = default;
  explicit plan(std::string name) : name_(std::move(name)) {}

  plan& add(rule added) {
    rules_.push_back(std::move(added));
    return *this;
  }
  plan& add_batch(batch_info added) {
    batches_.push_back(std::move(added));
    return *this;
  }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  // Where commands and checks of rules without a cwd happen; empty: the current directory.
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  void set_directory(std::string directory) { directory_ = std::move(directory); }
  [[nodiscard]] const std::vector<rule>& rules() const noexcept { return rules_; }
  [[nodiscard]] const std::vector<batch_info>& batches() const noexcept { return batches_; }

 private:
  std::string name_ = "plan";
  std::string directory_;
  std::vector<rule> rules_;
  std::vector<batch_info> batches_;
};

// Something that keeps a plan from being run.
struct plan_problem {
  std::string where;  // the id of a rule or batch; empty: the plan
  std::string field;  // as a plan file spells it: "after", "timeout"
  std::string message;
};

// Every problem of the plan, in the order of its batches and rules; a cycle is written out.
[[nodiscard]] std::vector<plan_problem> find_problems(const plan& checked);

// Is thrown by run() for a plan that has problems; what() lists them.
class plan_error : public std::invalid_argument {
 public:
  explicit plan_error(std::vector<plan_problem> problems);
  [[nodiscard]] const std::vector<plan_problem>& problems() const noexcept { return problems_; }

 private:
  std::vector<plan_problem> problems_;
};

}  // namespace weft
