#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace weft::telemetry {

// Names as numbers, from 1, in bounded memory. Threads: any.
class trace_names {
 public:
  // Beyond these all have one number.
  static constexpr std::size_t names_max = 4096;

  // 0 when there is no memory.
  [[nodiscard]] std::uint32_t number_of(std::string_view name) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      const auto found = numbers_.find(name);
      if (found != numbers_.end()) return found->second;
      if (names_.size() >= names_max) name = "(other names)";
      names_.reserve(names_.size() + 1);  // so that a number is given once
      const auto [place, is_new] =
          numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size() + 1));
      if (is_new) names_.push_back(place->first);
      return place->second;
    } catch (const std::bad_alloc&) {
      return 0;
    }
  }

  // names()[n - 1] has the number n.
  [[nodiscard]] std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return names_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  // guarded by mutex_
  std::vector<std::string> names_;                             // guarded by mutex_
};

}  // namespace weft::telemetry
