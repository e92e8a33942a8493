#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/telemetry/stall.hpp>

namespace weft::telemetry {

// Which stalls were told already: one is news at the limit, and again at twice, four times the
// limit and so on.
class stall_memory {
 public:
  explicit stall_memory(std::chrono::nanoseconds limit) noexcept : limit_(limit) {}

  // Takes those away that are no news, or wait while their thread does something else. `found` is
  // all that there is: others have ended.
  void keep_news(std::vector<stall>& found) {
    std::map<key, std::chrono::nanoseconds> next_at;
    std::erase_if(found, [&](const stall& s) {
      key mine(s.scheduler, s.lane, s.worker, s.id);
      const auto told = next_at_.find(mine);
      auto next = told != next_at_.end() ? told->second : limit_;
      const bool is_news = s.is_on_top && s.held >= next;
      while (is_news && s.held >= next) next *= 2;
      next_at.emplace(std::move(mine), next);
      return !is_news;
    });
    next_at_ = std::move(next_at);
  }

 private:
  using key = std::tuple<std::string, std::string, unsigned, std::uint64_t>;

  const std::chrono::nanoseconds limit_;
  std::map<key, std::chrono::nanoseconds> next_at_;
};

}  // namespace weft::telemetry
