#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <batch/html_report_packed.hpp>

namespace weft::test {

// What stands in the page for its scripts to read.
inline std::string_view data_text(std::string_view page) {
  constexpr std::string_view before = R"(<script type="application/json" id="data">)";
  const auto begin = page.find(before) + before.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

inline nlohmann::json data_of(const std::string& page) {
  return nlohmann::json::parse(data_text(page));
}

// As report_page/run.js does it; a single number stands for all `count`.
inline std::vector<std::uint64_t> unpacked(const nlohmann::json& text, std::size_t count = 0) {
  std::vector<std::uint64_t> numbers;
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const char c : text.get<std::string>()) {
    const std::uint64_t digit = batch::packed_numbers::alphabet.find(c);
    value |= (digit & 31U) << shift;
    shift += 5;
    if (digit >= 32) continue;
    numbers.push_back(value);
    value = shift = 0;
  }
  if (numbers.size() == 1 && count > 1) numbers.resize(count, numbers.front());
  return numbers;
}

}  // namespace weft::test
