#include <weft/io/learned_classifier.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

#include <weft/base/units.hpp>
#include <weft/base/utf8.hpp>

namespace weft {
namespace {

using timing = learned_state::timing;

// How far beyond a threshold a mean must be before a decision that was made is left.
constexpr double clearance = 1.25;

template <class Value>
void require_within(std::string_view field, Value value, Value low, Value high,
                    std::string_view unit = "") {
  if (value >= low && value <= high) return;  // NaN is not
  std::ostringstream message;
  message << "weft: learned_classifier_options::" << field << " is " << value << unit
          << ", but must be between " << low << unit << " and " << high << unit;
  throw std::invalid_argument(message.str());
}

// --- Means ---------------------------------------------------------------------------------------

double middle_of(double a, double b, double c) noexcept {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// `count` includes this sample. There is no middle one of the first two, so the smaller stands in
// until the third replaces it; from then on every sample weighs the same until `forget` is more.
timing with_value(timing before, double value, unsigned count, double forget) noexcept {
  timing after;
  after.latest = {before.latest[1], value};
  if (count == 1) {
    after.mean = value;
  } else if (count == 2) {
    after.mean = std::min(before.latest[1], value);
  } else {
    const double entering = middle_of(before.latest[0], before.latest[1], value);
    const double weight = std::max(forget, 1.0 / (count - 2));
    after.mean = std::lerp(before.mean, entering, weight);
  }
  return after;
}

double not_negative(std::chrono::nanoseconds time) noexcept {
  return std::max(0.0, static_cast<double>(time.count()));
}

// The clocks differ by a little, so there can be more CPU time than time.
double cpu_share(const learned_state& state) noexcept {
  return state.wall.mean > 0 ? std::min(1.0, state.cpu.mean / state.wall.mean) : 1.0;
}

// --- Decisions -----------------------------------------------------------------------------------

struct verdict {
  bool value = false;
  bool kept = false;
};

// Whether `a` is above `b`; `before` is the answer on which the decision of before rests.
verdict is_above(double a, double b, std::optional<bool> before) noexcept {
  const bool now = a > b;
  if (!before || *before == now) return {now, false};
  const bool clear = now ? a > b * clearance : a * clearance < b;
  return {clear ? now : *before, !clear};
}

classification decide_coroutine(const learned_state& state, double offload_above) noexcept {
  std::optional<bool> before;
  if (state.lane) before = *state.lane == lane_kind::cpu;
  const verdict is_long = is_above(state.cpu.mean, offload_above, before);
  if (is_long.value) return {lane_kind::cpu, classification_reason::computes_long, is_long.kept};
  return {lane_kind::io, classification_reason::computes_little, is_long.kept};
}

classification decide_function(const learned_state& state, double offload_above,
                               double blocking_below) noexcept {
  std::optional<bool> before;
  if (state.lane) before = *state.lane == lane_kind::blocking;
  const verdict is_long = is_above(state.wall.mean, offload_above, before);
  const verdict is_asleep = is_above(blocking_below, cpu_share(state), before);
  if (!is_long.value) return {lane_kind::cpu, classification_reason::takes_little, is_long.kept};
  if (!is_asleep.value) return {lane_kind::cpu, classification_reason::computes, is_asleep.kept};
  return {lane_kind::blocking, classification_reason::sleeps, is_long.kept || is_asleep.kept};
}

// --- Words ---------------------------------------------------------------------------------------

std::string duration_text(double nanoseconds) { return format_duration(nanoseconds * 1e-9); }

std::string percent_text(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

std::string reason_text(const learned_state& state, const classification& decided,
                        const learned_classifier_options& options) {
  const std::string limit = duration_text(not_negative(options.offload_above));
  if (decided.kept) return "kept there: too close to the limit to change lanes";
  switch (decided.reason) {
    case classification_reason::too_few_samples:
      break;
    case classification_reason::computes_long:
      return "above " + limit;
    case classification_reason::computes_little:
      return "not above " + limit + " of CPU";
    case classification_reason::takes_little:
      return "not above " + limit;
    case classification_reason::computes:
      return "computing for " + percent_text(cpu_share(state)) + " of it";
    case classification_reason::sleeps:
      return "computing for " + percent_text(cpu_share(state)) + " of it, below " +
             percent_text(options.blocking_below);
  }
  return {};
}

constexpr std::string_view by_kind = "functions go to the cpu lane, coroutines to the io lane";

std::string_view kind_text(task_kind kind) noexcept {
  return kind == task_kind::coroutine ? "coroutine" : "function";
}

std::string sentence(const std::string& subject, const learned_state& state, task_kind kind,
                     const learned_classifier_options& options) {
  const classification decided = decide(state, {{}, kind}, options);
  std::string text = subject + ": " + std::string(to_string(decided.lane)) + " lane";
  const std::string count =
      std::to_string(state.samples) + (state.samples == 1 ? " sample" : " samples");
  if (decided.reason == classification_reason::too_few_samples) {
    return text + " as any " + std::string(kind_text(kind)) + "; " + count + " of the " +
           std::to_string(options.samples_needed) + " needed";
  }
  return text + "; " + count + ", " + duration_text(state.cpu.mean) + " CPU in " +
         duration_text(state.wall.mean) + " at a time, " + reason_text(state, decided, options);
}

constexpr std::array all_kinds = {task_kind::coroutine, task_kind::function};

std::size_t index_of(task_kind kind) noexcept { return static_cast<std::size_t>(kind); }

}  // namespace

void validate(const learned_classifier_options& options) {
  constexpr std::chrono::nanoseconds shortest = std::chrono::microseconds(1);
  constexpr std::chrono::nanoseconds longest = std::chrono::hours(1);
  require_within("offload_above", options.offload_above.count(), shortest.count(), longest.count(),
                 " ns");
  require_within("blocking_below", options.blocking_below, 0.0, 0.75);
  require_within("samples_needed", options.samples_needed, 3U, 1'000'000U);
  require_within("sample_every", options.sample_every, 1U, 1'000'000U);
  require_within("forget", options.forget, 0.001, 1.0);
  require_within<std::size_t>("max_names", options.max_names, 1, 1'000'000);
}

learned_state with_sample(const learned_state& state, const task_sample& sample,
                          const learned_classifier_options& options) noexcept {
  learned_state after = state;
  if (after.samples < std::numeric_limits<unsigned>::max()) ++after.samples;
  after.wall = with_value(state.wall, not_negative(sample.wall), after.samples, options.forget);
  after.cpu = with_value(state.cpu, not_negative(sample.cpu), after.samples, options.forget);
  const classification decided = decide(after, {sample.name, sample.kind}, options);
  if (decided.reason != classification_reason::too_few_samples) after.lane = decided.lane;
  return after;
}

classification decide(const learned_state& state, const task_facts& facts,
                      const learned_classifier_options& options) noexcept {
  if (state.samples < options.samples_needed) {
    return {lane_of(facts.kind), classification_reason::too_few_samples, false};
  }
  const double offload_above = not_negative(options.offload_above);
  return facts.kind == task_kind::coroutine
             ? decide_coroutine(state, offload_above)
             : decide_function(state, offload_above, options.blocking_below);
}

learned_classifier::learned_classifier(learned_classifier_options options) : options_(options) {
  validate(options_);
}

lane_kind learned_classifier::classify(const task_facts& facts) {
  const std::lock_guard lock(mutex_);
  const learned_state* const state = find_or_add(facts.name, facts.kind);
  return state != nullptr ? decide(*state, facts, options_).lane : lane_of(facts.kind);
}

bool learned_classifier::wants_sample(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(name);
  if (found == names_.end()) return names_.size() < options_.max_names;
  entry& known = found->second;
  const bool is_new = std::any_of(
      known.of_kind.begin(), known.of_kind.end(),
      [&](const auto& state) { return state && state->samples < options_.samples_needed; });
  if (!is_new && ++known.runs_since_sample < options_.sample_every) return false;
  known.runs_since_sample = 0;
  return true;
}

void learned_classifier::learn(const task_sample& sample) {
  const std::lock_guard lock(mutex_);
  learned_state* const state = find_or_add(sample.name, sample.kind);
  if (state != nullptr) *state = with_sample(*state, sample, options_);
}

std::string learned_classifier::explain(std::string_view name) const {
  const std::string shown = base::printable(name);
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(name);
  if (found == names_.end()) {
    if (names_.size() < options_.max_names) return shown + ": never seen; " + std::string(by_kind);
    return shown + ": not learned, because " + std::to_string(names_.size()) +
           " other names are (learned_classifier_options::max_names); " + std::string(by_kind);
  }
  const auto& states = found->second.of_kind;
  const bool is_ambiguous = states[0] && states[1];
  std::string text;
  for (const task_kind kind : all_kinds) {
    const auto& state = states[index_of(kind)];
    if (!state) continue;
    if (!text.empty()) text += '\n';
    const std::string subject =
        is_ambiguous ? shown + " (" + std::string(kind_text(kind)) + ")" : shown;
    text += sentence(subject, *state, kind, options_);
  }
  return text;
}

// Null for a name that came too late to be remembered.
learned_state* learned_classifier::find_or_add(std::string_view name, task_kind kind) {
  auto found = names_.find(name);
  if (found == names_.end()) {
    if (names_.size() >= options_.max_names) return nullptr;
    found = names_.try_emplace(std::string(name)).first;
  }
  auto& state = found->second.of_kind[index_of(kind)];
  if (!state) state.emplace();
  return &*state;
}

}  // namespace weft
