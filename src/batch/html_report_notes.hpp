#pragma once

#include <cstddef>

#include <nlohmann/json.hpp>

#include <weft/batch/record.hpp>

namespace weft::batch {

// What rules that did not simply pass have to say.
struct rule_notes {
  nlohmann::ordered_json::object_t by_place;  // message and output, by the rule's place in the plan
  std::size_t left_out = 0;                   // rules for which there was no room
};

// Cut to a size that people read and that keeps the report small.
[[nodiscard]] rule_notes notes_of(const run_record& record);

}  // namespace weft::batch
