#include "refusal.hpp"

#include <iostream>
#include <stdexcept>

#include <weft/base/utf8.hpp>
#include <weft/batch/plan.hpp>
#include <weft/batch/runner.hpp>

#include "standard_streams.hpp"

namespace weft::cli {

int guarded(const std::string& command, const std::function<int()>& work) {
  const auto say = [&](const std::string& problem) {
    std::cerr << "weft " << command << ": " << problem << '\n';
  };
  try {
    const int status = work();
    if (finish_standard_output()) return status;
    say("cannot write to standard output: it is closed, or its disk is full; send it elsewhere");
    return exit_code::io_error;
  } catch (const refusal& refused) {
    say(refused.message);
    return refused.status;
  } catch (const run_error& failed) {
    say(failed.what());
    return static_cast<int>(failed.kind());
  } catch (const plan_error& failed) {
    say(base::printable_lines(failed.what()));
    return exit_code::bad_data;
  } catch (const std::invalid_argument& failed) {
    say(failed.what());
    return exit_code::usage;
  }
}

}  // namespace weft::cli
