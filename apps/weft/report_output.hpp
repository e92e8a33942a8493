#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <weft/batch/report.hpp>

namespace weft::cli {

// --format, --output and --trace of the commands that make a report.
struct output_options {
  std::string format = "text";
  std::string output;
  std::string trace;
};

void add_output_options(CLI::App& command, output_options& given);

// A file that an option names. It is opened before anything runs: nobody wants to learn after an
// hour that its name was wrong.
class report_file {
 public:
  // Errors: refusal.
  report_file(std::string option, std::string path);

  [[nodiscard]] bool is_wanted() const { return !path_.empty(); }
  // Errors: refusal.
  void write(const std::string& text);

 private:
  void require(bool fine) const;

  std::string option_;
  std::string path_;  // empty: the option was not given
  std::ofstream file_;
};

// A file and the argument that names it; empty: none does.
struct file_argument {
  std::string argument;
  std::string path;
};

// Refuses two arguments that name one file, of which what is written last would be all that stays.
// Two may name one device. Errors: refusal.
void expect_different(const std::vector<file_argument>& files);

// Where the report of a run goes.
//
//   text              standard output, and with --output also the file
//   json, junit, ...  the file; without one, standard output has nothing else, so that it can be
//                     piped on
//   github            as these, but without a file the annotations come after the text: a log of
//                     GitHub is for people and takes the annotations out of it
class report_output {
 public:
  // Errors: refusal, when a file cannot be written.
  explicit report_output(const output_options& given);

  // Nothing but the report goes to standard output.
  [[nodiscard]] bool replaces_text() const;
  [[nodiscard]] bool has_file() const { return report_.is_wanted(); }
  [[nodiscard]] bool has_trace() const { return trace_.is_wanted(); }
  // Writes the files. `text` is the report for people. Errors: refusal.
  void write_files(const run_report& report, const std::string& text);
  // What standard output gets besides the text, or instead of it; empty for none.
  [[nodiscard]] std::string for_standard_output(const run_report& report) const;

 private:
  std::string format_;
  report_file report_;
  report_file trace_;
};

}  // namespace weft::cli
