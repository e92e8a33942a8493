#include <weft/adapt/policy/impact.hpp>

#include <algorithm>

#include <adapt/validate.hpp>

namespace weft::adapt {
namespace {

// Use is projected, not known, and others share the machine: stay clear of the threshold.
constexpr double share_of_threshold = 0.8;

// What each of the workers added. A worker cannot give resources back: a drop is somebody else's
// doing.
std::optional<double> share_of_rise(const std::optional<double>& before,
                                    const std::optional<double>& after, unsigned added) noexcept {
  if (!before || !after) return std::nullopt;
  return std::max(0.0, *after - *before) / added;
}

void measure(impact_state& state, const resource_use& use) noexcept {
  const impact_state::trial& trial = *state.pending;
  state.costs[state.measured % impact_state::remembered] = {
      .cpu = share_of_rise(trial.baseline.cpu, use.cpu, trial.added),
      .gpu_memory = share_of_rise(trial.baseline.gpu_memory, use.gpu_memory, trial.added)};
  ++state.measured;
  state.pending.reset();
}

// The mean of what is known; 0 when nothing is.
double expected(const impact_state& state, std::optional<double> impact_state::cost::* resource) {
  double sum = 0;
  unsigned known = 0;
  for (const impact_state::cost& cost : state.costs) {
    if (!(cost.*resource)) continue;
    sum += *(cost.*resource);
    ++known;
  }
  return known == 0 ? 0 : sum / known;
}

// The resource that would be closer to its limit with one more worker.
struct projection {
  double use;
  double limit;
};

projection project(const impact_state& state, const impact_config& config,
                   const resource_use& use) noexcept {
  const projection cpu = {use.cpu.value_or(0) + expected(state, &impact_state::cost::cpu),
                          share_of_threshold * config.cpu_threshold};
  if (!use.gpu_memory) return cpu;
  const projection gpu = {*use.gpu_memory + expected(state, &impact_state::cost::gpu_memory),
                          share_of_threshold * config.gpu_memory_threshold};
  return gpu.limit - gpu.use < cpu.limit - cpu.use ? gpu : cpu;
}

}  // namespace

void validate(const impact_config& config) {
  using std::chrono::nanoseconds;
  require_within("impact_config.max", config.max, 1U, 1024U);
  require_within("impact_config.min", config.min, 1U, config.max);
  require_within("impact_config.cpu_threshold", config.cpu_threshold, 0.0, 100.0, " %");
  require_within("impact_config.gpu_memory_threshold", config.gpu_memory_threshold, 0.0, 100.0,
                 " %");
  constexpr auto longest = nanoseconds(std::chrono::hours(1)).count();
  require_within("impact_config.settle", config.settle.count(), nanoseconds::rep{1}, longest,
                 " ns");
  require_within("impact_config.cooldown", config.cooldown.count(), nanoseconds::rep{0}, longest,
                 " ns");
}

impact_step step(const impact_state& before, const impact_config& config, const resource_use& use,
                 time_point now) noexcept {
  impact_state state = before;
  const auto stay = [&](sizing_reason reason, projection p = {}) -> impact_step {
    return {state,
            {.workers = state.workers,
             .reason = reason,
             .before = state.workers,
             .measured = p.use,
             .compared = p.limit}};
  };

  if (!state.begun) {
    state.begun = true;
    state.workers = config.min;
    state.added_at = now;
    state.pending = impact_state::trial{.baseline = use, .since = now, .added = config.min};
    return stay(sizing_reason::settling);
  }
  // Idle workers cost nothing, so without work each one would look free.
  if (use.waiting == 0) state.pending.reset();
  if (!use.cpu) return stay(sizing_reason::unmeasured);
  if (state.pending) {
    if (now - state.pending->since < config.settle) return stay(sizing_reason::settling);
    measure(state, use);
  }
  if (state.workers >= config.max) return stay(sizing_reason::at_bounds);
  if (use.waiting == 0) return stay(sizing_reason::no_demand);
  if (now - *state.added_at < config.cooldown) return stay(sizing_reason::cooling_down);

  const projection next = project(state, config, use);
  if (!(next.use < next.limit)) return stay(sizing_reason::no_headroom, next);
  impact_step added = stay(sizing_reason::worker_added, next);
  added.sizing.workers = ++added.state.workers;
  added.state.added_at = now;
  added.state.pending = impact_state::trial{.baseline = use, .since = now, .added = 1};
  return added;
}

impact::impact(const impact_config& config) : config_((validate(config), config)) {
  state_.workers = config.min;
}

sizing impact::poll(const resource_use& use, time_point now) noexcept {
  impact_step done = step(state_, config_, use, now);
  state_ = done.state;
  return done.sizing;
}

}  // namespace weft::adapt
