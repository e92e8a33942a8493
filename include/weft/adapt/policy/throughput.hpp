#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <weft/adapt/policy/sizing.hpp>
#include <weft/adapt/time_point.hpp>

namespace weft::adapt {

struct throughput_config {
  unsigned min = 1;           // 1 to max
  unsigned max = 64;          // 1 to 1024
  double cpu_threshold = 85;  // 0 to 100 %; no growth beyond the usable CPUs above it
  // From a step that did not pay to the next try, 1 ms to 1 h; doubles each time up to twelve times
  // as long. Steps that are slow to judge wait longer: four times what judging took.
  std::chrono::nanoseconds reprobe = std::chrono::seconds(5);
};

// Errors: std::invalid_argument that names the field and what it may be.
void validate(const throughput_config& config);

// What the workers did in a stretch of time, about a second.
struct work_window {
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds cpu{};  // the sum over all workers
  std::uint64_t completed = 0;
  std::size_t waiting = 0;  // items queued at the end of the window
  // The size that was asked for with pool::resize and was in force throughout, not the threads that
  // happened to live.
  unsigned workers = 1;
  double usable_cpus = 1;                            // may change while running
  std::optional<double> machine_cpu = std::nullopt;  // CPU use of the whole machine, 0 to 100 %
};

enum class throughput_phase : std::uint8_t { settled, growing, probing_down };

struct throughput_state {
  // Windows, merged until they hold enough to judge.
  struct evidence {
    std::chrono::nanoseconds wall{};
    std::chrono::nanoseconds cpu{};
    std::uint64_t completed = 0;
  };
  // Items a second at one size.
  struct rate {
    double mean = 0;
    unsigned samples = 0;
    double latest = 0;
  };
  // When a step may be tried again, and how long the wait after the next failure will be.
  struct pause {
    time_point until = time_point::min();
    std::chrono::nanoseconds next{};
  };

  unsigned workers = 1;
  throughput_phase phase = throughput_phase::settled;
  double usable_cpus = 1;
  unsigned strangers = 0;  // windows in a row that were measured at another size
  evidence gathered;
  rate here;            // at the present size
  double variance = 0;  // of a rate, relative to its mean
  // While growing or probing down: where to go back to, and what to beat.
  unsigned known = 1;
  rate reference;
  pause growth;
  pause probes;
};

struct throughput_step {
  throughput_state state;
  adapt::sizing sizing;
};

// As many workers as there are usable CPUs.
[[nodiscard]] throughput_state start(const throughput_config& config, double usable_cpus) noexcept;

// One poll. Pure: no clock, lock, thread, log or allocation. `config` is valid.
[[nodiscard]] throughput_step step(const throughput_state& before, const throughput_config& config,
                                   const work_window& window, time_point now) noexcept;

// Looks for the smallest number of workers that gets the most done.
//
// It begins with the usable CPUs. Workers that leave them partly idle wait for something, so more
// of them fit: usable CPUs / CPU share of a worker. It goes there by doubling at most, and keeps a
// step that brings a quarter of the proportional gain. Then it tries 15 % fewer, again and again,
// while throughput stays within 2 %. What did not pay is tried again after 5 s, 10 s, up to a
// minute. It begins anew when the usable CPUs change, and when the rate leaves what noise explains.
//
// Only windows at whose end items were waiting count. Windows with few items are merged: up to
// seven items a worker, after half a minute two. So a step with items of 20 s takes 40 s, and one
// whose items take more than two minutes is not judged: such items leave the size alone. Noise is
// estimated, and a step is watched for as many windows as telling it from noise takes.
//
// Threads: one at a time. Errors: the constructor throws std::invalid_argument.
class throughput {
 public:
  explicit throughput(const throughput_config& config);

  // How many to begin with.
  unsigned start(double usable_cpus) noexcept;
  sizing poll(const work_window& window, time_point now) noexcept;

 private:
  throughput_config config_;
  throughput_state state_;
};

}  // namespace weft::adapt
