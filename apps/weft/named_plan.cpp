#include "named_plan.hpp"

#include <weft/batch/plan_file.hpp>

#include "refusal.hpp"
#include "standard_streams.hpp"

namespace weft::cli {

plan must_load_plan(const std::string& named) {
  if (named != "-") return must(batch::load_plan(named));
  return must(batch::plan_of_commands(must(read_standard_input())));
}

}  // namespace weft::cli
