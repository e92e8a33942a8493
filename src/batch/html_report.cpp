#include <weft/batch/html_report.hpp>

#include <string_view>

#include "batch/html_report_data.hpp"
#include "batch/report_page.hpp"

namespace weft::batch {
namespace {

void append_files(std::string& to, std::string_view extension) {
  for (const embedded_file& file : report_page) {
    if (file.name.ends_with(extension)) to += file.text;
  }
}

}  // namespace

std::string to_html(const run_report& report, const html_options& options) {
  const std::string data = html_data(report, options);
  std::string made;
  // A slot of the page is written {{name}}. The slots are looked for in the page alone, so that
  // nothing in the data can be taken for one.
  std::string_view rest = report_page.front().text;
  for (auto slot = rest.find("{{"); slot != std::string_view::npos; slot = rest.find("{{")) {
    const auto end = rest.find("}}", slot);
    const std::string_view name = rest.substr(slot + 2, end - slot - 2);
    made += rest.substr(0, slot);
    if (name == "style") append_files(made, ".css");
    if (name == "data") made += data;
    if (name == "script") append_files(made, ".js");
    rest.remove_prefix(end + 2);
  }
  return made += rest;
}

}  // namespace weft::batch
