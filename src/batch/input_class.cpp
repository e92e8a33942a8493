#include "batch/input_class.hpp"

#include <bit>
#include <filesystem>

#include <weft/base/units.hpp>

#include "batch/glob.hpp"

namespace weft::batch {

std::string input_class(const rule& of, const std::string& directory) {
  if (of.inputs.empty()) return {};
  const std::filesystem::path where = std::filesystem::path(directory) / of.cwd;
  std::uint64_t bytes = 0;
  for (const std::string& pattern : of.inputs) {
    for (const std::string& file : expand(pattern, where.string(), {})) {
      std::error_code failed;
      const std::uintmax_t size = std::filesystem::file_size(where / file, failed);
      if (!failed) bytes += size;
    }
  }
  if (bytes == 0) return "0";
  const auto power = static_cast<unsigned>(std::bit_width(bytes) - 1) / 2 * 2;
  constexpr const char* units[] = {"", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return std::to_string(std::uint64_t{1} << (power % 10)) + units[power / 10];
}

}  // namespace weft::batch
