#include "batch/attempt.hpp"

#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <utility>

#include "batch/excerpt.hpp"
#include "batch/seconds.hpp"

namespace weft::batch {
namespace {

constexpr std::size_t output_max = std::size_t{64} << 10U;
constexpr std::size_t finding_bytes_max = 4096;  // of the name of its file, and of its message

std::string signal_name(int number) {
  const char* const name = ::sigabbrev_np(number);
  return name == nullptr ? "signal " + std::to_string(number) : "SIG" + std::string(name);
}

std::string in_words(std::chrono::nanoseconds time) {
  const double seconds = seconds_of(time);
  std::string digits = std::to_string(seconds);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits + " s";
}

// What a rule found, as far as it is kept, by names that start where the plan happens.
std::vector<finding> kept(std::vector<finding>&& found, const std::string& rule_directory) {
  if (found.size() > findings_max) found.resize(findings_max);
  for (finding& each : found) {
    if (!rule_directory.empty()) {
      each.file = (std::filesystem::path(rule_directory) / each.file).lexically_normal().string();
    }
    each.file = excerpt(each.file, finding_bytes_max);
    each.message = excerpt(each.message, finding_bytes_max);
  }
  return std::move(found);
}

// FNV-1a: stable over time and machines, which std::hash does not promise.
class hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    add_byte(0xFF);  // no text has it: "ab" "c" differs from "a" "bc"
  }
  void add(std::uint64_t number) { add(std::to_string(number)); }

  [[nodiscard]] std::string hex() const {
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[(value_ >> shift) & 0xF];
    return text;
  }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001B3U; }

  std::uint64_t value_ = 0xCBF29CE484222325U;
};

struct add_check {
  hash& to;
  void operator()(const exists& c) const { to.add(c.files); }
  void operator()(const absent& c) const { to.add(c.files); }
  void operator()(const matches& c) const { add_all(c.pattern, c.files); }
  void operator()(const lacks& c) const { add_all(c.pattern, c.files); }
  void operator()(const max_size& c) const { add_all(c.bytes, c.files); }
  void operator()(const count& c) const {
    add_all(c.files, c.at_least, c.at_most.value_or(UINT64_MAX));
  }
  void operator()(const json_valid& c) const { to.add(c.files); }
  void operator()(const toml_valid& c) const { to.add(c.files); }

  template <class... Part>
  void add_all(const Part&... part) const {
    (to.add(part), ...);
  }
};

}  // namespace

bool is_command(const rule& of) { return !of.command.empty() || !of.shell.empty(); }

process::command command_of(const rule& of, const std::string& directory) {
  process::command made;
  made.argv = of.shell.empty() ? of.command : std::vector<std::string>{"/bin/sh", "-c", of.shell};
  made.env = of.env;
  made.cwd = of.cwd;
  if (made.cwd.empty()) {
    made.cwd = directory;
  } else if (made.cwd.front() != '/' && !directory.empty()) {
    made.cwd = directory + "/" + made.cwd;
  }
  return made;
}

attempt attempt_of(process::outcome&& ended, const rule& of) {
  attempt made;
  made.passed = ended.ok();
  made.duration = seconds_of(ended.duration);
  made.signal = ended.signal;
  made.peak_rss = ended.peak_rss;
  made.cpu = seconds_of(ended.user_time + ended.system_time);
  made.output = ended.output.text();
  switch (ended.how) {
    case process::ending::exited:
      made.exit_code = ended.exit_code;
      if (!made.passed) made.message = "exit code " + std::to_string(ended.exit_code);
      break;
    case process::ending::signalled:
      made.message = "killed by " + signal_name(ended.signal);
      break;
    case process::ending::timed_out:
      made.timed_out = true;
      made.message = "timed out after " + in_words(of.timeout);
      break;
    case process::ending::stopped:
      made.stopped = true;
      break;
    case process::ending::not_started:
      made.message = std::move(ended.problem);
      break;
  }
  if (made.passed && ended.left_running) made.message = "left processes running";
  return made;
}

attempt perform_here(const rule& of, const std::string& directory, unsigned number,
                     const std::stop_token& stop) {
  attempt made;
  rule_context context(of.id, number, stop);
  rule_result found;
  try {
    if (of.check) {
      const process::command where = command_of(of, directory);
      found = perform(*of.check, where.cwd, stop);
      found.findings = kept(std::move(found.findings), of.cwd);
    } else {
      found = of.run(context);
      found.findings = kept(std::move(found.findings), "");
    }
  } catch (const std::exception& thrown) {
    found = fail_rule(thrown.what());
  } catch (...) {
    found = fail_rule("threw something that is no std::exception");
  }
  made.passed = found.passed;
  made.message = std::move(found.message);
  made.findings = std::move(found.findings);
  made.output = std::move(context.output());
  if (made.output.size() > output_max) made.output.resize(output_max);
  return made;
}

std::string fingerprint(const rule& of) {
  hash body;
  for (const std::string& argument : of.command) body.add(argument);
  body.add(of.shell);
  body.add(of.cwd);
  for (const auto& [name, value] : of.env) {
    body.add(name);
    body.add(value);
  }
  if (of.check) {
    body.add(name_of(*of.check));
    std::visit(add_check{body}, *of.check);
  }
  return body.hex();
}

}  // namespace weft::batch
