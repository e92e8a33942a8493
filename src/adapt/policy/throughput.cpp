#include <weft/adapt/policy/throughput.hpp>

#include <algorithm>
#include <cmath>

#include <adapt/validate.hpp>

namespace weft::adapt {
namespace {

using std::chrono::nanoseconds;
using phase = throughput_phase;

// A count is off by up to one item a worker: those under way at the ends of a window. Seven items a
// worker keep that below 15 %, enough to see a doubling and what is lost by a worker less.
constexpr unsigned items_per_worker = 7;
// What must do when items are slow: after half a minute two a worker suffice, and the wait for them
// ends when three could have been done.
constexpr unsigned items_per_worker_at_least = 2;
constexpr nanoseconds usual_merge = std::chrono::seconds(30);
constexpr nanoseconds longest_merge = std::chrono::minutes(5);
constexpr double latencies_to_wait = 3;

// A step is worth a try when it could bring more than this.
constexpr double smallest_growth = 1.05;
constexpr double share_of_gain_to_keep = 0.25;
constexpr double probe_share = 0.15;
constexpr double throughput_to_keep = 0.98;

// A reference of one window would send every second probe the wrong way.
constexpr unsigned samples_before_probe = 2;
// A step that cannot be told from noise in so many windows is undone.
constexpr unsigned most_samples_of_a_step = 8;
constexpr unsigned most_samples_in_a_mean = 8;
// How many standard errors make a probe clear. A wrong step costs until it is found out, an unclear
// one another window: so keeping takes more.
constexpr double sure_to_keep = 2;
constexpr double sure_to_undo = 1.5;
constexpr double first_guess_of_noise = 0.05;
constexpr double least_noise = 0.01;
// A rate that is off by this factor, and by this many standard deviations, is not noise: the work
// is another.
constexpr double factor_of_other_work = 3;
constexpr double deviations_of_other_work = 8;
// Steps that are slow to judge would follow one another without a rest between them.
constexpr int measurements_per_pause = 4;
// A step that lost more than this shows that the rate before it no longer holds either.
constexpr double loss_within_reason = 0.75;

constexpr unsigned strangers_before_giving_in = 3;
constexpr int longest_pause = 12;  // times reprobe

unsigned whole_cpus(double cpus) noexcept {
  // Also false for NaN.
  if (!(cpus >= 1)) return 1;
  return static_cast<unsigned>(std::min(std::ceil(cpus), 1024.0));
}

double seconds(nanoseconds time) noexcept { return std::chrono::duration<double>(time).count(); }

void restart(throughput_state::pause& pause, const throughput_config& config) noexcept {
  pause = {.until = time_point::min(), .next = config.reprobe};
}

// `into` stands for the samples of both from now on.
void pool(throughput_state::rate& into, const throughput_state::rate& other) noexcept {
  const unsigned samples = into.samples + other.samples;
  into.mean += (other.mean - into.mean) * other.samples / samples;
  into.samples = std::min(samples, most_samples_in_a_mean);
}

enum class verdict : std::uint8_t { pays, does_not, unclear };

// One poll in the making.
class poll_of_throughput {
 public:
  poll_of_throughput(const throughput_state& before, const throughput_config& config,
                     const work_window& window, time_point now) noexcept
      : config_(config), window_(window), now_(now), before_(before.workers), state_(before) {}

  throughput_step run() noexcept {
    if (window_.workers != state_.workers) return meet_stranger();
    state_.strangers = 0;
    if (window_.waiting == 0 || window_.wall <= nanoseconds::zero()) {
      return say(sizing_reason::no_demand);
    }
    if (whole_cpus(window_.usable_cpus) != whole_cpus(state_.usable_cpus)) begin_anew();
    state_.usable_cpus = window_.usable_cpus;
    if (!gather()) return wait_for_more();
    if (is_other_work()) return meet_other_work();
    add_sample();
    switch (state_.phase) {
      case phase::growing:
        return judge_growth();
      case phase::probing_down:
        return judge_probe();
      case phase::settled:
        break;
    }
    return look_for_a_step(sizing_reason::settled);
  }

 private:
  // The size that was asked for may take a moment. If it does not come, work from the one there is.
  throughput_step meet_stranger() noexcept {
    if (++state_.strangers >= strangers_before_giving_in) {
      state_.strangers = 0;
      if (state_.phase != phase::settled) extend(pause_of_step());
      settle_at(std::clamp(window_.workers, config_.min, config_.max));
    }
    return say(sizing_reason::not_in_force, window_.workers);
  }

  // Merges the window with those before it. True when there is enough to judge: then the rate and
  // the CPU use are known, and the next merge begins.
  bool gather() noexcept {
    throughput_state::evidence& all = state_.gathered;
    all.wall += window_.wall;
    all.cpu += window_.cpu;
    all.completed += window_.completed;
    const bool slow = all.wall >= usual_merge;
    done_ = static_cast<double>(all.completed);
    needed_ =
        static_cast<double>(slow ? items_per_worker_at_least : items_per_worker) * state_.workers;
    measured_for_ = std::min(all.wall, longest_merge);
    const bool enough = done_ >= needed_;
    if (enough) {
      rate_ = done_ / seconds(all.wall);
      const double available = state_.usable_cpus * seconds(all.wall);
      cpu_use_ = available > 0 ? seconds(all.cpu) / available : 1.0;
    }
    if (enough || all.wall >= patience()) all = {};
    return enough;
  }

  // How long windows are merged at most. Waiting for the first item of all costs nothing.
  [[nodiscard]] nanoseconds patience() const noexcept {
    if (state_.phase == phase::settled && done_ == 0) return longest_merge;
    const double wanted = latencies_to_wait * latency();
    if (wanted >= seconds(longest_merge)) return longest_merge;
    return std::max(usual_merge,
                    std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(wanted)));
  }

  // Seconds an item takes: by the items that finished, or, while none did, by the rate last known.
  [[nodiscard]] double latency() const noexcept {
    if (done_ > 0) return seconds(state_.gathered.wall) * state_.workers / done_;
    if (state_.here.samples > 0) return state_.workers / state_.here.mean;
    return state_.known / state_.reference.mean;
  }

  // A step that cannot be judged is undone.
  throughput_step wait_for_more() noexcept {
    const bool gave_up = state_.gathered.wall == nanoseconds::zero();
    if (gave_up && state_.phase != phase::settled) {
      extend(pause_of_step());
      settle_at(state_.known);
    }
    return say(sizing_reason::measuring, done_, needed_);
  }

  [[nodiscard]] bool is_other_work() const noexcept {
    if (state_.here.samples == 0) return false;
    const double mean = state_.here.mean;
    const double factor = std::max(rate_, mean) / std::min(rate_, mean);
    return factor > std::max(factor_of_other_work, 1 + deviations_of_other_work * noise());
  }

  // What was measured says nothing about the work there is now. Nor does this rate: a window of
  // both kinds of work, or a stumble, would make a poor reference.
  throughput_step meet_other_work() noexcept {
    const double then = state_.here.mean;
    if (state_.phase != phase::settled) {
      extend(pause_of_step());
      settle_at(state_.known);
    }
    state_.here = {};
    return say(sizing_reason::work_changed, rate_, then);
  }

  void begin_anew() noexcept {
    state_.phase = phase::settled;
    state_.here = {};
    state_.gathered = {};
    restart(state_.growth, config_);
    restart(state_.probes, config_);
  }

  [[nodiscard]] throughput_state::pause& pause_of_step() noexcept {
    return state_.phase == phase::growing ? state_.growth : state_.probes;
  }

  void extend(throughput_state::pause& pause) const noexcept {
    pause.until = now_ + std::max(pause.next, measurements_per_pause * measured_for_);
    pause.next = std::min(2 * pause.next, longest_pause * config_.reprobe);
  }

  void add_sample() noexcept {
    throughput_state::rate& here = state_.here;
    if (here.samples > 0) {
      // Neighbouring samples, so that slow changes of the work do not count as noise.
      const double difference = std::min(std::abs(rate_ / here.latest - 1), 0.5);
      state_.variance += 0.2 * (difference * difference / 2 - state_.variance);
    }
    here.samples = std::min(here.samples + 1, most_samples_in_a_mean);
    here.mean += (rate_ - here.mean) / here.samples;
    here.latest = rate_;
  }

  // The standard deviation of a rate, relative to its mean.
  [[nodiscard]] double noise() const noexcept {
    return std::max(std::sqrt(state_.variance), least_noise);
  }

  // The present rate relative to the reference, and how far the noise may have moved it.
  [[nodiscard]] double gain() const noexcept { return state_.here.mean / state_.reference.mean; }
  [[nodiscard]] double uncertainty() const noexcept {
    return gain() * noise() * std::sqrt(1.0 / state_.here.samples + 1.0 / state_.reference.samples);
  }

  [[nodiscard]] verdict growth_verdict() const noexcept {
    const double proportional = static_cast<double>(state_.workers) / state_.known;
    const double enough = 1 + share_of_gain_to_keep * (proportional - 1);
    if (gain() - uncertainty() > enough) return verdict::pays;
    if (gain() + uncertainty() < enough) return verdict::does_not;
    return verdict::unclear;
  }

  // Clear of the loss that fewer busy workers would bring, or clear of no loss at all.
  [[nodiscard]] verdict probe_verdict() const noexcept {
    const double proportional = static_cast<double>(state_.workers) / state_.known;
    if (gain() >= throughput_to_keep) {
      return gain() - sure_to_keep * uncertainty() > proportional ? verdict::pays
                                                                  : verdict::unclear;
    }
    return gain() + sure_to_undo * uncertainty() < 1 ? verdict::does_not : verdict::unclear;
  }

  [[nodiscard]] bool out_of_patience() const noexcept {
    return state_.here.samples >= most_samples_of_a_step;
  }

  throughput_step judge_growth() noexcept {
    const double now = state_.here.mean;
    const double then = state_.reference.mean;
    const verdict found = growth_verdict();
    if (found == verdict::unclear && !out_of_patience()) {
      return say(sizing_reason::measuring, done_, needed_);
    }
    if (found == verdict::pays) {
      state_.phase = phase::settled;
      restart(state_.growth, config_);
      return look_for_a_step(sizing_reason::growth_kept, now, then);
    }
    // A rate that did rise says how many workers can have been busy: try these before giving up.
    const auto busy = static_cast<unsigned>(std::round(state_.known * gain()));
    if (busy < state_.workers && busy > smallest_growth * state_.known) {
      set_size(busy);
      return say(sizing_reason::growth_undone, now, then);
    }
    const bool reference_holds = gain() > loss_within_reason;
    settle_at(state_.known);
    if (reference_holds) state_.here = state_.reference;
    extend(state_.growth);
    return say(sizing_reason::growth_undone, now, then);
  }

  throughput_step judge_probe() noexcept {
    const double now = state_.here.mean;
    const double then = state_.reference.mean;
    const verdict found = probe_verdict();
    if (found == verdict::unclear && !out_of_patience()) {
      return say(sizing_reason::measuring, done_, needed_);
    }
    if (found == verdict::pays) {
      // What was just left behind did not do more, so it is no use to grow back there soon.
      restart(state_.growth, config_);
      extend(state_.growth);
      restart(state_.probes, config_);
      // The next probe is held against all of this series: against this size alone, small losses
      // would add up, and one lucky window would end it.
      pool(state_.reference, state_.here);
      state_.phase = phase::settled;
      return probe_down(sizing_reason::probe_kept, now, then);
    }
    settle_at(state_.known);
    extend(state_.probes);
    return say(sizing_reason::probe_undone, now, then);
  }

  // `otherwise` is the reason, with its figures, when no step is due.
  throughput_step look_for_a_step(sizing_reason otherwise, double measured = 0,
                                  double compared = 0) noexcept {
    const unsigned wanted = std::min(target(), 2 * state_.workers);
    const unsigned allowed = machine_is_busy() ? std::min(wanted, without_a_crowd()) : wanted;
    if (now_ >= state_.growth.until && is_worth_a_try(allowed)) {
      state_.reference = state_.here;
      try_size(allowed, phase::growing);
      return say(sizing_reason::growing, cpu_use_, state_.usable_cpus);
    }
    if (may_probe()) {
      state_.reference = state_.here;
      return probe_down(otherwise, measured, compared);
    }
    if (otherwise != sizing_reason::settled) return say(otherwise, measured, compared);
    if (allowed != wanted && is_worth_a_try(wanted)) {
      return say(sizing_reason::machine_busy, *window_.machine_cpu, config_.cpu_threshold);
    }
    const bool stuck = config_.min == config_.max;
    return say(stuck ? sizing_reason::at_bounds : sizing_reason::settled, state_.here.mean);
  }

  [[nodiscard]] bool is_worth_a_try(unsigned size) const noexcept {
    return size > smallest_growth * state_.workers;
  }

  // While others need the CPUs: no more workers than may run at once.
  [[nodiscard]] unsigned without_a_crowd() const noexcept {
    return std::max(state_.workers, whole_cpus(state_.usable_cpus));
  }

  // Where every usable CPU is busy: a worker keeps cpu_use / workers of them busy.
  [[nodiscard]] unsigned target() const noexcept {
    const double use = std::clamp(cpu_use_, 1e-3, 1.0);
    const double size = std::round(static_cast<double>(state_.workers) / use);
    return static_cast<unsigned>(std::clamp<double>(size, config_.min, config_.max));
  }

  [[nodiscard]] bool machine_is_busy() const noexcept {
    return window_.machine_cpu && *window_.machine_cpu > config_.cpu_threshold;
  }

  [[nodiscard]] bool may_probe() const noexcept {
    return now_ >= state_.probes.until && state_.here.samples >= samples_before_probe &&
           state_.workers > config_.min;
  }

  throughput_step probe_down(sizing_reason otherwise, double measured, double compared) noexcept {
    if (state_.workers <= config_.min) {
      settle_at(state_.workers);
      return say(otherwise, measured, compared);
    }
    const double fewer = std::max(1.0, std::round(probe_share * state_.workers));
    const unsigned size = state_.workers - static_cast<unsigned>(fewer);
    try_size(std::max(size, config_.min), phase::probing_down);
    return say(sizing_reason::probing_down, state_.reference.mean);
  }

  void try_size(unsigned workers, phase step) noexcept {
    state_.known = state_.workers;
    state_.phase = step;
    set_size(workers);
  }

  void settle_at(unsigned workers) noexcept {
    state_.phase = phase::settled;
    set_size(workers);
  }

  // What was measured at another size does not count here.
  void set_size(unsigned workers) noexcept {
    if (workers == state_.workers) return;
    state_.workers = workers;
    state_.here = {};
    state_.gathered = {};
  }

  [[nodiscard]] throughput_step say(sizing_reason reason, double measured = 0,
                                    double compared = 0) const noexcept {
    return {state_,
            {.workers = state_.workers,
             .reason = reason,
             .before = before_,
             .measured = measured,
             .compared = compared}};
  }

  const throughput_config& config_;
  const work_window& window_;
  const time_point now_;
  const unsigned before_;
  throughput_state state_;
  double done_ = 0;
  double needed_ = 0;
  nanoseconds measured_for_{};
  double rate_ = 0;     // items a second
  double cpu_use_ = 1;  // of the usable CPUs
};

}  // namespace

void validate(const throughput_config& config) {
  require_within("throughput_config.max", config.max, 1U, 1024U);
  require_within("throughput_config.min", config.min, 1U, config.max);
  require_within("throughput_config.cpu_threshold", config.cpu_threshold, 0.0, 100.0, " %");
  constexpr auto shortest = nanoseconds(std::chrono::milliseconds(1)).count();
  constexpr auto longest = nanoseconds(std::chrono::hours(1)).count();
  require_within("throughput_config.reprobe", config.reprobe.count(), shortest, longest, " ns");
}

throughput_state start(const throughput_config& config, double usable_cpus) noexcept {
  throughput_state state;
  state.workers = std::clamp(whole_cpus(usable_cpus), config.min, config.max);
  state.usable_cpus = usable_cpus;
  state.variance = first_guess_of_noise * first_guess_of_noise;
  restart(state.growth, config);
  restart(state.probes, config);
  return state;
}

throughput_step step(const throughput_state& before, const throughput_config& config,
                     const work_window& window, time_point now) noexcept {
  return poll_of_throughput(before, config, window, now).run();
}

throughput::throughput(const throughput_config& config)
    : config_((validate(config), config)), state_(adapt::start(config, 1)) {}

unsigned throughput::start(double usable_cpus) noexcept {
  state_ = adapt::start(config_, usable_cpus);
  return state_.workers;
}

sizing throughput::poll(const work_window& window, time_point now) noexcept {
  throughput_step done = step(state_, config_, window, now);
  state_ = done.state;
  return done.sizing;
}

}  // namespace weft::adapt
