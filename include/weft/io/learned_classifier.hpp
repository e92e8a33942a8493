#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <weft/io/classifier.hpp>

namespace weft {

struct learned_classifier_options {
  // To wake another lane costs 25 to 90 us: less work than this is done sooner where it is.
  std::chrono::nanoseconds offload_above = std::chrono::microseconds(50);  // 1 us to 1 h
  // A function that takes longer than that, and computes for a smaller share of it, is blocking.
  double blocking_below = 0.5;   // 0 (never) to 0.75
  unsigned samples_needed = 8;   // 3 to 1,000,000; until then tasks go by their kind
  unsigned sample_every = 64;    // 1 to 1,000,000; afterwards one run in so many is measured
  double forget = 0.1;           // 0.001 to 1; how much a new sample weighs in the mean
  std::size_t max_names = 4096;  // 1 to 1,000,000; others go by their kind
};

// Errors: std::invalid_argument with the field, its value and what is allowed.
void validate(const learned_classifier_options& options);

// --- Deciding: no thread, lock or clock ----------------------------------------------------------

// What is known of the runs of one name and kind.
struct learned_state {
  struct timing {
    double mean = 0;                 // nanoseconds
    std::array<double, 2> latest{};  // the two samples before the next, older first
  };
  unsigned samples = 0;
  timing wall;
  timing cpu;
  // Decided by enough samples. It stays until a mean is a quarter beyond the threshold, so that a
  // task near it does not change lanes from run to run.
  std::optional<lane_kind> lane;
};

enum class classification_reason : std::uint8_t {
  too_few_samples,  // by kind
  computes_long,    // a coroutine that would keep its I/O thread from others
  computes_little,  // a coroutine
  takes_little,     // a function: not worth another lane
  computes,         // a function that takes long because it computes
  sleeps,           // a function that takes long and computes little
};

struct classification {
  lane_kind lane = lane_kind::cpu;
  classification_reason reason = classification_reason::too_few_samples;
  // The mean has crossed the threshold, but not by a quarter: the lane is that of before.
  bool kept = false;
};

// Takes in one run. What enters the means is the middle one of the last three samples, so one
// stall, such as a page fault or a thread that lost its core, leaves no trace.
[[nodiscard]] learned_state with_sample(const learned_state& state, const task_sample& sample,
                                        const learned_classifier_options& options) noexcept;

// Whether a function that is predicted to be short should run at once in its caller is not decided
// here: it stays with its kind. Time in which other threads had the core counts as time not spent
// computing; blocking_below leaves room for that.
[[nodiscard]] classification decide(const learned_state& state, const task_facts& facts,
                                    const learned_classifier_options& options) noexcept;

// --- The classifier ------------------------------------------------------------------------------

// Chooses lanes by what runs of the same name have cost.
//
// Threads: any. Errors: std::invalid_argument for options; std::bad_alloc from what meets a new
// name.
class learned_classifier final : public task_classifier {
 public:
  explicit learned_classifier(learned_classifier_options options = {});

  [[nodiscard]] lane_kind classify(const task_facts& facts) override;
  // Every run until each kind seen under this name has samples enough, then one in sample_every.
  [[nodiscard]] bool wants_sample(std::string_view name) override;
  void learn(const task_sample& sample) override;
  // "resize: cpu lane; 23 samples, 1.90 ms CPU in 2.00 ms at a time, computing for 95 % of it". A
  // line for each kind where a name was used for both.
  [[nodiscard]] std::string explain(std::string_view name) const override;

 private:
  struct entry {
    std::array<std::optional<learned_state>, 2> of_kind;  // by task_kind
    unsigned runs_since_sample = 0;
  };
  struct name_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const noexcept {
      return std::hash<std::string_view>{}(name);
    }
  };

  [[nodiscard]] learned_state* find_or_add(std::string_view name, task_kind kind);

  const learned_classifier_options options_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, entry, name_hash, std::equal_to<>> names_;  // guarded by mutex_
};

}  // namespace weft
