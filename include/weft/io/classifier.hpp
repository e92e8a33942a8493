#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

// Where a hybrid scheduler runs a task.
enum class lane_kind : std::uint8_t {
  cpu,       // a work-stealing pool, as many threads as cores
  io,        // threads that wait for I/O and must be back soon
  blocking,  // threads that may sleep in a call
};

// "cpu", "io" or "blocking".
[[nodiscard]] std::string_view to_string(lane_kind lane) noexcept;

enum class task_kind : std::uint8_t { coroutine, function };

// What is known of a task before it runs.
struct task_facts {
  std::string_view name;
  task_kind kind = task_kind::function;
};

// One run of a task: a function from its begin to its end; a coroutine between two suspensions,
// which is the time for which it held its thread.
struct task_sample {
  std::string_view name;
  task_kind kind = task_kind::function;
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds cpu{};
};

// Chooses the lane of a task for which the program did not choose one.
//
// Threads: every member, from any thread, several at once. Errors: classify() may throw; the
// scheduler then uses the lane of the kind, and reports it once.
class task_classifier {
 public:
  virtual ~task_classifier() = default;

  [[nodiscard]] virtual lane_kind classify(const task_facts& facts) = 0;
  // Whether learn() should hear of the next run of this name. Reading a thread's CPU clock costs
  // about 0.7 us, so most runs are not worth it.
  [[nodiscard]] virtual bool wants_sample(std::string_view name);
  virtual void learn(const task_sample& sample);
  // Where tasks of this name go and why, in a sentence for a user.
  [[nodiscard]] virtual std::string explain(std::string_view name) const = 0;
};

// A coroutine waits, so it goes to the I/O lane; a function computes, so it goes to the CPU lane.
[[nodiscard]] constexpr lane_kind lane_of(task_kind kind) noexcept {
  return kind == task_kind::coroutine ? lane_kind::io : lane_kind::cpu;
}

// The default: by kind alone, and so the same in every run of a program.
class kind_classifier final : public task_classifier {
 public:
  [[nodiscard]] lane_kind classify(const task_facts& facts) override;
  [[nodiscard]] std::string explain(std::string_view name) const override;
};

}  // namespace weft
