#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::batch {

// One time that a rule ran.
struct sample {
  double when = 0;     // seconds since 1970
  double seconds = 0;  // what it took
};

// What is known about the cost of a rule. Pure values: no file, no clock.
//
// The totals are exact: two profiles merge to what one would be that had seen the samples of both,
// in any order. What a rule will cost next is told by the recent samples alone, so old ones fade: a
// rule that has become ten times slower is believed after about ten runs.
struct profile {
  static constexpr std::size_t recent_max = 12;

  std::uint64_t n = 0;
  double mean = 0;
  double m2 = 0;  // sum of squared distances from the mean (Welford)
  double min = 0;
  double max = 0;
  std::uint64_t peak_rss = 0;  // bytes; the most that was seen, fading with the recent samples
  std::uint64_t failures = 0;
  std::uint64_t timeouts = 0;
  std::vector<sample> recent;  // by time, at most recent_max

  void add(const sample& seen);
  void merge(const profile& other);

  [[nodiscard]] double std_dev() const noexcept;  // of the samples; 0 for fewer than two
  [[nodiscard]] double p50() const;               // of the recent ones
  [[nodiscard]] double p90() const;
  // What it will cost next: the mean of the logarithms of the recent samples, later ones heavier.
  [[nodiscard]] double estimate() const;
  [[nodiscard]] double last_updated() const noexcept;  // seconds since 1970; 0: never
};

// A rule, and the class of its input where a plan says what it reads; "" otherwise.
struct profile_key {
  std::string rule;
  std::string input_class = {};

  auto operator<=>(const profile_key&) const = default;
};

// The profiles of many rules.
class profiles {
 public:
  // The profile of exactly this key, or null.
  [[nodiscard]] const profile* find(const profile_key& key) const;
  // That one, else the one of the same rule with the most samples, or null.
  [[nodiscard]] const profile* nearest(const profile_key& key) const;
  [[nodiscard]] profile& at(const profile_key& key) { return entries_[key]; }

  void merge(const profiles& other);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] const std::map<profile_key, profile>& entries() const noexcept { return entries_; }

 private:
  std::map<profile_key, profile> entries_;
};

}  // namespace weft::batch
