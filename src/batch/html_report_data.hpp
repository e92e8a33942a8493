#pragma once

#include <string>

#include <weft/batch/html_report.hpp>

namespace weft::batch {

// What the page draws, as JSON that may stand in a script element.
// report_page/run.js reads it and says what is in it.
[[nodiscard]] std::string html_data(const run_report& report, const html_options& options);

}  // namespace weft::batch
