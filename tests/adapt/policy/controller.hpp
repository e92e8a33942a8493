#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <weft/adapt/policy/health_zones.hpp>

namespace weft::test {

// A policy made at second 0, and the moment of its next poll.
class controller {
 public:
  explicit controller(const health_zones_config& config) : policy_(config, adapt::time_point{}) {}

  controller& at(std::chrono::nanoseconds moment) {
    now_ = adapt::time_point(moment);
    return *this;
  }
  controller& later(std::chrono::nanoseconds time) {
    now_ += time;
    return *this;
  }

  decision score(double value, adapt::circuit circuit = adapt::circuit::closed) {
    return poll({.score = value, .circuit = circuit});
  }
  decision timeout() { return poll({}); }
  decision poll(const health_reading& reading) { return policy_.poll(reading, now_); }

  // Perfect health until the limit is there.
  void raise_to(unsigned limit) {
    while (policy_.state().limit < limit) later(std::chrono::seconds(1)).score(100);
  }

  void configure(const health_zones_config& config) { policy_.configure(config); }
  [[nodiscard]] unsigned limit() const { return policy_.state().limit; }

 private:
  health_zones policy_;
  adapt::time_point now_{};
};

// What a policy says about a configuration that it refuses; empty when it takes it.
inline std::string refusal(const health_zones_config& config) {
  try {
    const health_zones policy(config);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace weft::test
