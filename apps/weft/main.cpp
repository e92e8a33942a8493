#include <exception>
#include <iostream>
#include <sstream>
#include <string_view>

#include <CLI/CLI.hpp>

#include <weft/base/utf8.hpp>
#include <weft/version.hpp>

#include "bench.hpp"
#include "exit_code.hpp"
#include "explain.hpp"
#include "plan.hpp"
#include "profile.hpp"
#include "report.hpp"
#include "run.hpp"
#include "simulate.hpp"
#include "standard_streams.hpp"
#include "unexpected.hpp"

int main(int argc, char** argv) {
  weft::cli::occupy_standard_descriptors();
  int status = weft::cli::exit_code::ok;
  CLI::App app("Weft runs work on the cores you really have.", "weft");
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.footer("weft COMMAND --help tells more about a command.");
  try {
    weft::cli::add_run(app, status);
    weft::cli::add_plan(app, status);
    weft::cli::add_report(app, status);
    weft::cli::add_explain(app, status);
    weft::cli::add_bench(app, status);
    weft::cli::add_profile(app, status);
    weft::cli::add_simulate(app, status);
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    std::cerr << weft::cli::explain_unexpected(app);
    return weft::cli::exit_code::usage;
  } catch (const CLI::ParseError& stop) {
    // Help and version come this way too, and are no errors.
    std::ostringstream problem;
    const int code = app.exit(stop, std::cout, problem);
    std::cerr << weft::base::printable_lines(problem.str());
    return code == 0 ? weft::cli::exit_code::ok : weft::cli::exit_code::usage;
  } catch (const std::exception& problem) {
    // What the library throws begins with its name already.
    const std::string_view text = problem.what();
    std::cerr << (text.starts_with("weft: ") ? "" : "weft: ") << text << '\n';
    return weft::cli::exit_code::io_error;
  }
  // CLI11 could ask for a command itself, but would not say which word it took for one.
  if (app.get_subcommands().empty()) {
    std::cerr << "weft: expected a command; weft --help lists them\n";
    return weft::cli::exit_code::usage;
  }
  return status;
}
