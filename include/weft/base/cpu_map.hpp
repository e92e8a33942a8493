#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::base {

/// How far the data of one CPU is from another one.
enum class nearness : std::uint8_t {
  same_cache,  ///< They share their last level of cache.
  same_node,   ///< They share their memory.
  elsewhere,
};

/// Which CPUs of the machine share a cache and which share memory, as the kernel tells in /sys.
///
/// Threads: any; it does not change once made. Errors: none. A CPU that /sys says nothing about
/// counts as near to all the others of that kind; where nothing can be read the machine is flat.
class cpu_map {
 public:
  /// Reads /sys below `root`: a few files for each last-level cache and each node.
  explicit cpu_map(const std::string& root = "/");

  /// The machine this process runs on, read once.
  static const cpu_map& of_this_machine();

  /// All CPUs share one cache: it does not matter which is which.
  [[nodiscard]] bool is_flat() const noexcept { return flat_; }
  [[nodiscard]] nearness between(unsigned cpu, unsigned other) const noexcept;

 private:
  struct place {
    unsigned cache = 0;  // the lowest CPU that shares it
    unsigned node = 0;
  };
  [[nodiscard]] place place_of(unsigned cpu) const noexcept;

  std::vector<place> places_;  // by CPU
  bool flat_ = true;
};

/// The CPUs of a list as the kernel writes it, "0-3,8,10-11"; nothing when it is not one.
[[nodiscard]] std::optional<std::vector<unsigned>> parse_cpu_list(std::string_view text);

}  // namespace weft::base
