#include "report_output.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <weft/base/utf8.hpp>
#include <weft/batch/formats.hpp>
#include <weft/batch/trace.hpp>

#include "refusal.hpp"

namespace weft::cli {
namespace {

constexpr const char* text_format = "text";

std::string formatted(const run_report& report, const std::string& format) {
  return to_format(report, report_format_of(format).value_or(report_format::json));
}

bool is_same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code problem;
  if (fs::exists(a, problem) && fs::exists(b, problem)) {
    return fs::equivalent(a, b, problem) && fs::is_regular_file(a, problem);
  }
  return fs::weakly_canonical(fs::absolute(a), problem) ==
         fs::weakly_canonical(fs::absolute(b), problem);
}

}  // namespace

void add_output_options(CLI::App& command, output_options& given) {
  command.add_option("--format", given.format, "What the report is")
      ->option_text("text|json|junit|tap|sarif|github [text]")
      ->check(CLI::IsMember({"text", "json", "junit", "tap", "sarif", "github"}));
  command.add_option("--output,-o", given.output, "Write the report to a file")
      ->option_text("FILE");
  command.add_option("--trace", given.trace, "Write a trace for https://ui.perfetto.dev")
      ->option_text("FILE");
}

report_file::report_file(std::string option, std::string path)
    : option_(std::move(option)), path_(std::move(path)) {
  if (path_.empty()) return;
  file_.open(path_, std::ios::binary | std::ios::trunc);
  require(file_.is_open());
}

void report_file::write(const std::string& text) {
  file_ << text;
  file_.close();
  require(!file_.fail());
}

void report_file::require(bool fine) const {
  if (fine) return;
  throw refusal{errno == EACCES ? exit_code::no_permission : exit_code::cannot_create,
                option_ + ": cannot write " + base::printable(path_) + ": " +
                    std::strerror(errno)};  // NOLINT(concurrency-mt-unsafe)
}

void expect_different(const std::vector<file_argument>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t before = 0; before < i; ++before) {
      if (files[i].path.empty() || files[before].path.empty()) continue;
      if (!is_same_file(files[before].path, files[i].path)) continue;
      throw refusal{exit_code::usage, files[i].argument + ": " + base::printable(files[i].path) +
                                          " is the file of " + files[before].argument +
                                          ", too; give each its own"};
    }
  }
}

report_output::report_output(const output_options& given)
    : format_(given.format), report_("--output", given.output), trace_("--trace", given.trace) {}

bool report_output::replaces_text() const {
  return format_ != text_format && format_ != name_of(report_format::github) && !has_file();
}

void report_output::write_files(const run_report& report, const std::string& text) {
  if (has_file()) report_.write(format_ == text_format ? text : formatted(report, format_));
  if (trace_.is_wanted()) trace_.write(batch::to_trace(report));
}

std::string report_output::for_standard_output(const run_report& report) const {
  return format_ == text_format || has_file() ? "" : formatted(report, format_);
}

}  // namespace weft::cli
