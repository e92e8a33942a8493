#include <weft/batch/record.hpp>

#include <array>

namespace weft {
namespace {

constexpr std::array statuses = {rule_status::waiting, rule_status::passed, rule_status::flaky,
                                 rule_status::warned,  rule_status::failed, rule_status::timed_out,
                                 rule_status::skipped};

}  // namespace

std::string_view name_of(rule_status status) noexcept {
  switch (status) {
    case rule_status::waiting:
      return "waiting";
    case rule_status::passed:
      return "passed";
    case rule_status::flaky:
      return "flaky";
    case rule_status::warned:
      return "warned";
    case rule_status::failed:
      return "failed";
    case rule_status::timed_out:
      return "timed_out";
    case rule_status::skipped:
      return "skipped";
  }
  return "";
}

std::optional<rule_status> rule_status_of(std::string_view name) noexcept {
  for (const rule_status status : statuses) {
    if (name_of(status) == name) return status;
  }
  return std::nullopt;
}

std::string_view name_of(run_ending ending) noexcept {
  switch (ending) {
    case run_ending::none:
      return "none";
    case run_ending::complete:
      return "complete";
    case run_ending::failed_fast:
      return "failed_fast";
    case run_ending::interrupted:
      return "interrupted";
    case run_ending::out_of_time:
      return "out_of_time";
  }
  return "";
}

std::string_view name_of(cost_source source) noexcept {
  switch (source) {
    case cost_source::profile:
      return "profile";
    case cost_source::hint:
      return "hint";
    case cost_source::similar:
      return "similar";
    case cost_source::guess:
      return "guess";
  }
  return "";
}

}  // namespace weft
