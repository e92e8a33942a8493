#include <weft/batch/profile.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace weft::batch {
namespace {

// Each sample weighs so much of the one after it. With twelve of them ten slow runs bring the
// estimate within 25 % of a tenfold change, and one run that is 100 times slower less than doubles
// it.
constexpr double fading = .9;
constexpr double shortest_s = 1e-9;  // has a logarithm, which 0 has not

bool is_time(double seconds) noexcept { return seconds >= 0 && seconds <= profile::longest_s; }

void keep_latest(std::vector<sample>& samples) {
  if (samples.size() <= profile::recent_max) return;
  samples.erase(samples.begin(),
                std::prev(samples.end(), static_cast<std::ptrdiff_t>(profile::recent_max)));
}

// The smallest sample that is not below `share` of them.
double percentile(const std::vector<sample>& samples, double share) {
  std::array<double, profile::recent_max> times{};
  const std::size_t count = std::min(samples.size(), times.size());
  if (count == 0) return 0;
  std::transform(samples.begin(), std::next(samples.begin(), static_cast<std::ptrdiff_t>(count)),
                 times.begin(), [](const sample& one) { return one.seconds; });
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(count))) - 1;
  const auto found = std::next(times.begin(), rank);
  std::nth_element(times.begin(), found,
                   std::next(times.begin(), static_cast<std::ptrdiff_t>(count)));
  return *found;
}

}  // namespace

void profile::add(const sample& seen) {
  if (!is_time(seen.seconds)) return;
  min = n == 0 ? seen.seconds : std::min(min, seen.seconds);
  max = n == 0 ? seen.seconds : std::max(max, seen.seconds);
  ++n;
  const double distance = seen.seconds - mean;
  mean += distance / static_cast<double>(n);
  m2 += distance * (seen.seconds - mean);

  sample kept = seen;
  if (!std::isfinite(kept.when) || kept.when < 0) kept.when = 0;
  recent.insert(std::upper_bound(recent.begin(), recent.end(), kept), kept);
  keep_latest(recent);
}

// The totals by the formula of Chan, Golub and LeVeque. The latest of two sets of latest samples
// are the latest of all, since sample has a total order: ties end the same way everywhere.
void profile::merge(const profile& other) {
  failures += other.failures;
  timeouts += other.timeouts;
  if (other.n == 0) return;
  const auto na = static_cast<double>(n);
  const auto nb = static_cast<double>(other.n);
  const double distance = other.mean - mean;
  min = n == 0 ? other.min : std::min(min, other.min);
  max = n == 0 ? other.max : std::max(max, other.max);
  n += other.n;
  mean += distance * (nb / (na + nb));
  m2 += other.m2 + distance * distance * (na * (nb / (na + nb)));

  std::vector<sample> both;
  both.reserve(recent.size() + other.recent.size());
  std::merge(recent.begin(), recent.end(), other.recent.begin(), other.recent.end(),
             std::back_inserter(both));
  keep_latest(both);
  recent = std::move(both);
}

double profile::std_dev() const noexcept {
  return n < 2 ? 0 : std::sqrt(m2 / static_cast<double>(n - 1));
}

double profile::p50() const { return percentile(recent, .5); }
double profile::p90() const { return percentile(recent, .9); }

double profile::estimate() const {
  if (recent.empty()) return mean;
  double weights = 0;
  double logarithms = 0;
  double weight = 1;
  for (auto one = recent.rbegin(); one != recent.rend(); ++one) {
    weights += weight;
    logarithms += weight * std::log(std::max(one->seconds, shortest_s));
    weight *= fading;
  }
  return std::exp(logarithms / weights);
}

std::uint64_t profile::peak_rss() const noexcept {
  std::uint64_t most = 0;
  for (const sample& one : recent) most = std::max(most, one.peak_rss);
  return most;
}

double profile::last_updated() const noexcept { return recent.empty() ? 0 : recent.back().when; }

const profile* profiles::find(const profile_key_view& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

const profile* profiles::nearest(const profile_key_view& key) const {
  const profile* best = find(key);
  if (best != nullptr && best->n > 0) return best;
  best = nullptr;
  for (auto entry = entries_.lower_bound(profile_key_view{.rule = key.rule});
       entry != entries_.end() && entry->first.rule == key.rule; ++entry) {
    if (entry->second.n > (best == nullptr ? 0 : best->n)) best = &entry->second;
  }
  return best;
}

bool profiles::insert(profile_key&& key, profile&& values) {
  const std::size_t before = entries_.size();
  entries_.try_emplace(entries_.end(), std::move(key), std::move(values));
  return entries_.size() > before;
}

void profiles::merge(const profiles& other) {
  if (this == &other) return merge(profiles(other));
  auto place = entries_.begin();  // both are in order, so the next key is mostly right here
  for (const auto& [key, values] : other.entries_) {
    place = entries_.try_emplace(place, key);
    place->second.merge(values);
    ++place;
  }
}

}  // namespace weft::batch
