#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weft/exec/executor.hpp>

namespace weft::exec {

// A way to decide the size of an executor, chosen by executor_options::sizing.
class sizer {
 public:
  virtual ~sizer() = default;

  struct window {
    std::chrono::nanoseconds wall{};
    std::chrono::nanoseconds cpu{};     // of the workers
    std::uint64_t completed = 0;        // items
    std::size_t waiting = 0;            // jobs queued at its end
    unsigned workers = 1;               // in force meanwhile
    double usable_cpus = 1;             // affinity and quota
    std::optional<double> machine_cpu;  // percent
    std::optional<double> gpu_memory;   // percent
  };
  struct choice {
    unsigned workers = 1;
    std::string reason;
    adapt::sizing_reason why = adapt::sizing_reason::at_bounds;
    bool is_trial = false;  // it may well cost throughput: look again soon
  };

  [[nodiscard]] virtual unsigned start(double usable_cpus) = 0;
  [[nodiscard]] virtual choice decide(const window& seen,
                                      std::chrono::steady_clock::time_point now) = 0;
};

[[nodiscard]] std::unique_ptr<sizer> make_sizer(const executor_options& options);

}  // namespace weft::exec
