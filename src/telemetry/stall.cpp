#include <weft/telemetry/stall.hpp>

#include <array>
#include <cstdio>

namespace weft {
namespace {

std::string length_of(std::chrono::nanoseconds time) {
  const double seconds = std::chrono::duration<double>(time).count();
  std::array<char, 64> text{};
  if (seconds < 1) {
    static_cast<void>(std::snprintf(text.data(), text.size(), "%.0f ms", seconds * 1e3));
  } else if (seconds < 10) {
    static_cast<void>(std::snprintf(text.data(), text.size(), "%.1f s", seconds));
  } else if (seconds < 600) {
    static_cast<void>(std::snprintf(text.data(), text.size(), "%.0f s", seconds));
  } else {
    static_cast<void>(std::snprintf(text.data(), text.size(), "%.0f min", seconds / 60));
  }
  return text.data();
}

}  // namespace

std::string stall::text() const {
  const std::string who = task.empty() ? "a task without a name" : "task \"" + task + "\"";
  const std::string number = std::to_string(worker);
  const std::string where = lane.empty() || lane == "cpu" ? "worker " + number
                            : lane == "blocking" ? "thread " + number + " of the blocking lane"
                                                 : "thread " + lane;
  return who + " has held " + where + " of \"" + scheduler + "\" for " + length_of(held);
}

}  // namespace weft
