#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::batch {

// One time that a rule ran.
struct sample {
  double when = 0;             // seconds since 1970; 0: not known, and so the oldest
  double seconds = 0;          // what it took
  std::uint64_t peak_rss = 0;  // bytes; 0: not known

  auto operator<=>(const sample&) const = default;
};

// What is known about the cost of a rule. Pure values: no file, no clock.
//
// The totals are exact: two profiles merge to what one would be that had seen the samples of both,
// in any order. What a rule will cost next is told by the recent samples alone, so old ones fade: a
// rule that has become ten times slower is believed after about ten runs.
struct profile {
  static constexpr std::size_t recent_max = 12;
  static constexpr double longest_s = 1e9;  // about 31 years

  std::uint64_t n = 0;
  double mean = 0;
  double m2 = 0;  // sum of squared distances from the mean (Welford)
  double min = 0;
  double max = 0;
  std::uint64_t failures = 0;
  std::uint64_t timeouts = 0;
  std::vector<sample> recent;  // the latest, oldest first, at most recent_max

  // A sample that is not between 0 and longest_s is ignored. One that is older than all the recent
  // ones, as after a clock was set back, counts in the totals only.
  void add(const sample& seen);
  void merge(const profile& other);

  [[nodiscard]] double std_dev() const noexcept;  // of the samples; 0 for fewer than two
  // A time that at least half, or 90 %, of the recent samples did not exceed; 0 without any.
  [[nodiscard]] double p50() const;
  [[nodiscard]] double p90() const;
  // What it will cost next: the mean of the logarithms of the recent samples, later ones heavier,
  // so that neither a change nor one outlier moves it at once. 0 without samples.
  [[nodiscard]] double estimate() const;
  // The most that a recent sample needed; 0: not known. What is no longer recent is forgotten.
  [[nodiscard]] std::uint64_t peak_rss() const noexcept;
  [[nodiscard]] double last_updated() const noexcept;  // seconds since 1970; 0: not known

  bool operator==(const profile&) const = default;
};

// A rule, and the class of its input where a plan says what it reads; "" otherwise. The view is for
// looking things up without a copy.
struct profile_key_view {
  std::string_view rule;
  std::string_view input_class = {};

  auto operator<=>(const profile_key_view&) const = default;
};

struct profile_key {
  std::string rule;
  std::string input_class = {};

  auto operator<=>(const profile_key&) const = default;
  operator profile_key_view() const noexcept {  // NOLINT(google-explicit-constructor): is its view
    return {rule, input_class};
  }
};

struct profile_key_order {
  using is_transparent = void;
  bool operator()(const profile_key_view& a, const profile_key_view& b) const { return a < b; }
};

// The profiles of many rules, sorted by rule and class. A profile stays where it is, so a pointer
// to it holds as long as this object.
class profiles {
 public:
  using map = std::map<profile_key, profile, profile_key_order>;

  // The profile of exactly this key, or null.
  [[nodiscard]] const profile* find(const profile_key_view& key) const;
  // That one if it has samples, else the one of the same rule with the most, or null.
  [[nodiscard]] const profile* nearest(const profile_key_view& key) const;
  [[nodiscard]] profile& at(const profile_key& key) { return entries_[key]; }

  // False, and nothing is moved, if there is one already. Quick when added in order.
  bool insert(profile_key&& key, profile&& values);
  void merge(const profiles& other);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] const map& entries() const noexcept { return entries_; }

 private:
  map entries_;
};

}  // namespace weft::batch
