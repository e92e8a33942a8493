#include <weft/telemetry/stall_detector.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include "telemetry/stall_memory.hpp"

namespace weft {
namespace {

using std::chrono::milliseconds;

stall_options checked(stall_options options) {
  if (options.limit < milliseconds(1)) {
    throw std::invalid_argument("weft: stall_options::limit is " +
                                std::to_string(options.limit.count()) +
                                " ms; every task would be a stall, so give at least 1 ms");
  }
  // Longer ones than a clock can tell mean never.
  options.limit = std::min<milliseconds>(options.limit, std::chrono::years(100));
  return options;
}

}  // namespace

std::string stall_report::text() const {
  std::string all;
  for (const stall& s : stalls) all += "weft: " + s.text() + "\n";
  return all + dump;
}

class stall_detector::watch {
 public:
  watch(const trace& of, stall_options options)
      : trace_(of),
        options_(checked(std::move(options))),
        memory_(options_.limit),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}

 private:
  void run(const std::stop_token& stop) {
    const milliseconds pause = std::clamp(options_.limit / 4, milliseconds(1), milliseconds(1000));
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) look();
  }

  void look() {
    std::vector<stall> found = trace_.stalls(options_.limit);
    if (!options_.blocking_lane) {
      std::erase_if(found, [](const stall& s) { return s.is_blocking_lane; });
    }
    memory_.keep_news(found);
    if (found.empty()) return;
    stall_report report;
    std::set<std::string> dumped;
    for (const stall& s : found) {
      if (dumped.insert(s.scheduler).second) report.dump += trace_.dump(s.scheduler);
    }
    report.stalls = std::move(found);
    if (options_.on_stall) return options_.on_stall(report);
    std::fputs(report.text().c_str(), stderr);
  }

  const trace& trace_;
  const stall_options options_;
  telemetry::stall_memory memory_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last: it uses the others
};

stall_detector::stall_detector(const trace& of, stall_options options)
    : watch_(std::make_unique<watch>(of, std::move(options))) {}
stall_detector::~stall_detector() = default;

}  // namespace weft
