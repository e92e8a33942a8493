#include <weft/adapt/health.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "adapt/validate.hpp"

namespace weft::adapt {
namespace {

constexpr double warning_health = .66;
constexpr double critical_health = .33;
// Scores are whole: 33 is critical, and so is everything below 34.
constexpr double just_not_critical = .34;

bool is_critical(double health) noexcept { return health < just_not_critical; }

// The line from (x0, y0) to (x1, y1), exact at both ends: zones begin there.
double interpolate(double x, double x0, double y0, double x1, double y1) noexcept {
  return x1 > x0 ? std::lerp(y0, y1, (x - x0) / (x1 - x0)) : y1;
}

// --- Components --------------------------------------------------------------------------------

class collector {
 public:
  explicit collector(health_report& report) : report_(report) {}

  void add(std::string_view signal, double load, double health, std::string detail) {
    report_.components.push_back({std::string(signal), load, health, std::move(detail)});
  }
  void miss(std::string_view signal, std::string reason) {
    report_.missing.push_back({std::string(signal), std::move(reason)});
  }
  [[nodiscard]] const health_component* find(std::string_view signal) const {
    const auto found =
        std::find_if(report_.components.begin(), report_.components.end(),
                     [&](const health_component& component) { return component.signal == signal; });
    return found == report_.components.end() ? nullptr : &*found;
  }

 private:
  health_report& report_;
};

void add_memory(const health_readings& readings, const health_config& config, collector& out) {
  if (const auto use = readings.memory.worst()) {
    out.add(health_signal::memory_used, use->share(),
            health_of_load(use->share(), config.memory_used), use->where);
  } else {
    out.miss(health_signal::memory_used, use.reason());
  }
}

// The worse of the own group and the machine, as for memory: a group that is spared for now runs
// out with the machine all the same.
void add_full_pressure(std::string_view signal, const resource_pressure& own,
                       const resource_pressure& machine, const load_scale& scale, collector& out) {
  const bool machine_is_worse =
      machine.full && (!own.full || machine.full->avg10 > own.full->avg10);
  const resource_pressure& pressure = machine_is_worse ? machine : own;
  if (!pressure.full) return out.miss(signal, pressure.full.reason());
  const double load = pressure.full->avg10;
  out.add(signal, load, health_of_load(load, scale), pressure.source);
}

struct contention {
  double load = 0;
  double health = 1;
  std::string detail;
};

// Only what has lasted a minute is critical, since a burst of work is no emergency.
contention contention_of(const stall& waiting, const std::string& source, const load_scale& scale) {
  contention found{waiting.avg10, health_of_load(waiting.avg10, scale), source};
  if (!is_critical(found.health)) return found;
  found.health = health_of_load(std::min(waiting.avg10, waiting.avg60), scale);
  if (!is_critical(found.health)) {
    found.health = just_not_critical;
    found.detail += ", for less than a minute";
  }
  return found;
}

// Tasks that wait for a CPU: from the pressure, or else from the load average, which is too slow to
// show a burst.
void add_cpu_contention(const health_readings& readings, const health_config& config,
                        collector& out) {
  std::optional<contention> worst;
  for (const resource_pressure* pressure :
       {&readings.pressure.cpu, &readings.pressure.machine_cpu}) {
    if (!pressure->some) continue;
    contention found = contention_of(*pressure->some, pressure->source, config.cpu_pressure);
    if (!worst || found.health < worst->health) worst = std::move(found);
  }
  if (worst) {
    out.add(health_signal::cpu_pressure, worst->load, worst->health, std::move(worst->detail));
    return;
  }
  out.miss(health_signal::cpu_pressure, readings.pressure.cpu.some.reason());
  if (const auto& load = readings.cpu.load_per_cpu) {
    out.add(health_signal::load_average, *load, health_of_load(*load, config.load_average),
            "instead of the pressure");
  } else {
    out.miss(health_signal::load_average, load.reason());
  }
}

// Work that is planned to fill its quota is throttled and none the worse for it, so this is
// critical only if tasks are seen to wait for a CPU as well.
void add_throttling(const health_readings& readings, const health_config& config, collector& out) {
  const auto& throttled = readings.cpu.throttled;
  if (!throttled) return out.miss(health_signal::cpu_throttled, throttled.reason());
  double health = health_of_load(throttled->share, config.cpu_throttled);
  std::string detail = throttled->group;
  const health_component* contention = out.find(health_signal::cpu_pressure);
  if (contention == nullptr) contention = out.find(health_signal::load_average);
  const bool confirmed = contention != nullptr && contention->health <= warning_health;
  if (is_critical(health) && !confirmed) {
    health = just_not_critical;
    detail += ", not confirmed by CPU pressure";
  }
  out.add(health_signal::cpu_throttled, throttled->share, health, std::move(detail));
}

// Under a quota the CPUs of the machine are not ours to use.
void add_cpu_use(const health_readings& readings, const health_config& config, collector& out) {
  const auto& use = readings.cpu.quota_use;
  const auto& utilisation = readings.cpu.utilisation;
  if (use) {
    out.add(health_signal::cpu_used, use->share, health_of_load(use->share, config.cpu_used),
            use->group);
  } else if (utilisation) {
    out.add(health_signal::cpu_used, *utilisation, health_of_load(*utilisation, config.cpu_used),
            "the machine");
  } else {
    out.miss(health_signal::cpu_used, utilisation.reason());
  }
}

void add_disk(const health_readings& readings, const health_config& config, collector& out) {
  if (!readings.disk) return out.miss(health_signal::disk_used, readings.disk.reason());
  const disk_space& disk = *readings.disk;
  const double used_share = 1 - disk.free_share();
  const auto size = static_cast<double>(disk.size);
  const load_scale used_bytes{.warning = size - static_cast<double>(config.disk_free_warning),
                              .critical = size - static_cast<double>(config.disk_free_critical),
                              .zero = size - static_cast<double>(config.disk_free_zero)};
  const double by_bytes = health_of_load(size - static_cast<double>(disk.free), used_bytes);
  const double by_share = health_of_load(used_share, config.disk_used);
  out.add(health_signal::disk_used, used_share, std::min(by_share, by_bytes),
          std::to_string(disk.free >> 20) + " MiB free");
}

void add_oom_kills(const health_readings& readings, const health_config& config,
                   health_state& state, time_point now, collector& out) {
  const auto& kills = readings.memory.oom_kills;
  if (kills) {
    if (state.oom_kills && *kills > *state.oom_kills) state.oom_kill_seen = now;
    state.oom_kills = *kills;
  }
  const bool recent = state.oom_kill_seen && now - *state.oom_kill_seen < config.oom_kill_hold;
  if (recent) {
    out.add(health_signal::oom_kill, 1, critical_health, "a process was killed for want of memory");
  } else if (kills) {
    out.add(health_signal::oom_kill, 0, 1, {});
  } else {
    out.miss(health_signal::oom_kill, kills.reason());
  }
}

void add_external(const std::vector<pushed_signal>& external, time_point now, collector& out) {
  for (const pushed_signal& pushed : external) {
    if (now - pushed.at > pushed.signal.valid_for) {
      out.miss(pushed.signal.name, "the last score pushed is too old");
    } else {
      const double health = pushed.signal.score / 100;
      out.add(pushed.signal.name, 1 - health, health, {});
    }
  }
}

// --- The score ---------------------------------------------------------------------------------

const health_component& weakest(const std::vector<health_component>& components) {
  return *std::min_element(
      components.begin(), components.end(),
      [](const health_component& a, const health_component& b) { return a.health < b.health; });
}

// Falls at once, rises with a half-life.
void follow(const health_component& weakest_now, const health_config& config, time_point now,
            health_state& state) {
  const double goal = 100 * weakest_now.health;
  if (state.score && *state.score < goal) {
    const std::chrono::duration<double> elapsed =
        std::max(now - state.at, time_point::duration::zero());
    const std::chrono::duration<double> half_life = config.rise_half_life;
    const double gap = (goal - *state.score) * std::exp2(-elapsed / half_life);
    state.score = goal - gap;
    // Halving never ends. Half a point is below what the score can show.
    if (gap >= .5) return;
  }
  state.score = goal;
  state.limiting = weakest_now.signal;
}

// Rounded down; but 29 / 100.0 * 100 comes out a little below 29, and means 29.
int whole_score(double score) {
  constexpr double rounding_error = 1e-9;
  return static_cast<int>(std::floor(std::clamp(score, 0.0, 100.0) + rounding_error));
}

}  // namespace

double health_of_load(double load, const load_scale& scale) noexcept {
  double health = 0;
  if (load <= scale.warning) {
    health = interpolate(load, 0, 1, scale.warning, warning_health);
  } else if (load <= scale.critical) {
    health = interpolate(load, scale.warning, warning_health, scale.critical, critical_health);
  } else if (load < scale.zero) {
    health = interpolate(load, scale.critical, critical_health, scale.zero, 0);
  }
  return std::clamp(health, scale.floor, 1.0);
}

void validate(const health_config& config) {
  const auto refuse = [](const std::string& field, const std::string& allowed) {
    throw std::invalid_argument("health_config." + field + " must " + allowed);
  };
  const auto check = [&](const std::string& field, const load_scale& scale) {
    // Written so that NaN fails.
    if (!(scale.warning > 0 && scale.critical > scale.warning && scale.zero > scale.critical &&
          std::isfinite(scale.zero))) {
      refuse(field, "have 0 < warning < critical < zero, all finite");
    }
    require_within("health_config." + field + ".floor", scale.floor, 0.0, 1.0);
  };
  check("memory_used", config.memory_used);
  check("memory_pressure", config.memory_pressure);
  check("cpu_pressure", config.cpu_pressure);
  check("load_average", config.load_average);
  check("cpu_throttled", config.cpu_throttled);
  check("cpu_used", config.cpu_used);
  check("io_pressure", config.io_pressure);
  check("disk_used", config.disk_used);
  if (config.disk_free_critical >= config.disk_free_warning) {
    refuse("disk_free_critical", "be less than disk_free_warning");
  }
  if (config.disk_free_zero >= config.disk_free_critical) {
    refuse("disk_free_zero", "be less than disk_free_critical");
  }
  require_time("health_config.rise_half_life", config.rise_half_life, 1);
  require_time("health_config.oom_kill_hold", config.oom_kill_hold, 0);
}

health_step step(const health_state& state, const health_config& config,
                 const health_readings& readings, time_point now) {
  health_step next{.state = state, .report = {}};
  health_report& report = next.report;
  collector out(report);
  add_memory(readings, config, out);
  add_full_pressure(health_signal::memory_pressure, readings.pressure.memory,
                    readings.pressure.machine_memory, config.memory_pressure, out);
  add_cpu_contention(readings, config, out);
  add_throttling(readings, config, out);
  add_cpu_use(readings, config, out);
  add_full_pressure(health_signal::io_pressure, readings.pressure.io, readings.pressure.machine_io,
                    config.io_pressure, out);
  add_disk(readings, config, out);
  const bool enough =
      out.find(health_signal::memory_used) != nullptr && report.components.size() >= 2;
  // These tell of an event and of somebody else's business: they do not show that the machine can
  // be read.
  add_oom_kills(readings, config, next.state, now, out);
  add_external(readings.external, now, out);

  if (enough) {
    const health_component& least = weakest(report.components);
    follow(least, config, now, next.state);
    report.score = whole_score(*next.state.score);
    report.limiting = next.state.limiting;
    report.recovering = *next.state.score < 100 * least.health;
  } else {
    report.score = unavailable{"needs the memory used and at least one other signal"};
  }
  // Time without a score is no time to recover in.
  next.state.at = now;
  return next;
}

}  // namespace weft::adapt
