#include <weft/io/classifier.hpp>

#include <weft/base/utf8.hpp>

namespace weft {

std::string_view to_string(lane_kind lane) noexcept {
  switch (lane) {
    case lane_kind::cpu:
      return "cpu";
    case lane_kind::io:
      return "io";
    case lane_kind::blocking:
      return "blocking";
  }
  return "unknown";
}

bool task_classifier::wants_sample(std::string_view /*name*/) { return false; }

void task_classifier::learn(const task_sample& /*sample*/) {}

lane_kind kind_classifier::classify(const task_facts& facts) { return lane_of(facts.kind); }

std::string kind_classifier::explain(std::string_view name) const {
  return base::printable(name) +
         ": by kind; functions go to the cpu lane, coroutines to the io lane";
}

}  // namespace weft
