// Sense, decide, enforce: how much runs at once follows a health score.

#include <chrono>
#include <cstdio>
#include <string>

#include <weft/weft.hpp>

int main() {
  using namespace std::chrono_literals;

  // Decide: between 1 and 10; up in steps, when health has been good for five minutes.
  const weft::adapt::time_point start{};
  weft::health_zones policy({.min = 1, .max = 10}, start);

  // Enforce: permits. Those who hold one keep it when there are to be fewer.
  weft::limiter at_once(policy.state().limit);

  // Sense: here a recorded hour. weft::adapt::machine_health reads the machine.
  struct {
    std::chrono::minutes at;
    double score;
  } const hour[] = {{0min, 80}, {5min, 82}, {10min, 90}, {12min, 20}, {14min, 70}, {20min, 75}};
  for (const auto& [at, score] : hour) {
    const weft::decision d = policy.poll({.score = score}, start + at);
    at_once.set_limit(d.limit);
    const std::string reason(name(d.reason));
    std::printf("%2d min  score %2.0f  at once %2zu of %2u wanted  %s\n",
                static_cast<int>(at.count()), score, at_once.limit(), d.target, reason.c_str());
  }
}
