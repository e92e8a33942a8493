#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/batch/check.hpp>
#include <weft/batch/rule_result.hpp>

namespace weft {

// What a running rule may know and ask.
class rule_context {
 public:
  rule_context(std::string_view id, unsigned attempt, std::stop_token stop)
      : id_(id), attempt_(attempt), stop_(std::move(stop)) {}

  [[nodiscard]] std::string_view id() const noexcept { return id_; }
  [[nodiscard]] unsigned attempt() const noexcept { return attempt_; }  // 1 for the first
  // Is stopped when the time of the rule is up or the run ends early.
  [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }
  // Text for the output of the rule.
  void print(std::string_view text) { output_ += text; }
  [[nodiscard]] std::string& output() noexcept { return output_; }

 private:
  std::string_view id_;
  unsigned attempt_;
  std::stop_token stop_;
  std::string output_;
};

// A function as the body of a rule. It takes a rule_context& or nothing, and returns a rule_result,
// a bool, or nothing; an exception is a failure with its what(). It runs on the pool of the run, so
// join, task_group and the parallel algorithms inside it use idle workers.
class rule_function {
 public:
  rule_function() = default;
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, rule_function> &&
             (std::invocable<F&, rule_context&> || std::invocable<F&>))
  rule_function(F&& f)  // NOLINT(google-explicit-constructor): `.run = check_root` is the point
      : call_([f = std::forward<F>(f)](rule_context& context) mutable {
          return as_result([&]() -> decltype(auto) {
            if constexpr (std::invocable<F&, rule_context&>) {
              return std::invoke(f, context);
            } else {
              return std::invoke(f);
            }
          });
        }) {}

  explicit operator bool() const noexcept { return static_cast<bool>(call_); }
  rule_result operator()(rule_context& context) const { return call_(context); }

 private:
  template <class Call>
  static rule_result as_result(Call call) {
    using returned = std::remove_cvref_t<decltype(call())>;
    static_assert(std::is_void_v<returned> || std::convertible_to<returned, rule_result> ||
                      std::convertible_to<returned, bool>,
                  "a rule returns rule_result, bool or nothing");
    if constexpr (std::is_void_v<returned>) {
      call();
      return {};
    } else if constexpr (std::convertible_to<returned, rule_result>) {
      return call();
    } else {
      return {.passed = static_cast<bool>(call()), .message = {}};
    }
  }

  std::function<rule_result(rule_context&)> call_;
};

enum class severity : std::uint8_t {
  fail,  // a failure fails the run, and what comes after the rule is skipped
  warn,  // a failure is reported, and everything goes on
};

// One thing to check or do. Exactly one of run, command, shell and check is its body.
struct rule {
  std::string id;  // unique among rules and batches
  std::string name = {};
  std::string batch = {};
  std::vector<std::string> after = {};  // ids of rules or batches

  rule_function run = {};
  std::vector<std::string> command = {};
  std::string shell = {};  // for /bin/sh -c
  std::optional<batch::check> check = std::nullopt;

  // What it takes, until there is a profile; 0: not known.
  std::chrono::nanoseconds cost{0};
  std::chrono::nanoseconds timeout{0};  // of one attempt; 0: none
  unsigned retries = 0;
  std::chrono::nanoseconds retry_delay = std::chrono::milliseconds(100);  // doubles every time
  std::vector<std::pair<std::string, std::string>> env = {};              // command and shell
  std::string cwd = {};                  // command, shell and check; empty: where the plan says
  std::vector<std::string> inputs = {};  // globs; their size tells apart profiles of one rule
  unsigned weight = 1;                   // how many workers it counts for
  std::uint64_t memory = 0;              // bytes that it will need; 0: as its profile says
  std::vector<std::string> tags = {};
  weft::severity severity = weft::severity::fail;
};

}  // namespace weft
