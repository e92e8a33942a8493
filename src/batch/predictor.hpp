#pragma once

#include <map>
#include <string>
#include <vector>

#include <weft/batch/bound.hpp>
#include <weft/batch/plan.hpp>
#include <weft/batch/profile.hpp>
#include <weft/batch/record.hpp>

namespace weft::batch {

// What each rule will take: its profile, else its hint, else the median of similar rules, else
// 10 ms. Similar rules do the same kind of thing, in the same batch if there are such. What is seen
// during the run counts as well.
class predictor {
 public:
  static constexpr double guess_seconds = 0.01;

  // `input_class` of each rule; `known` may be null.
  predictor(const plan& of, const std::vector<std::string>& input_class, const profiles* known);

  [[nodiscard]] const costs& seconds() const noexcept { return seconds_; }
  [[nodiscard]] const std::vector<cost_source>& sources() const noexcept { return sources_; }

  // A rule took so long. True if what is expected of others has changed.
  bool learn(node rule, double seconds);

 private:
  // The times of similar rules.
  struct family {
    std::vector<double> seen;
    std::size_t next_look = 1;  // the median is taken at 1, 2, 4, 8, ... times
    double median = 0;
    std::vector<node> members;  // rules without a profile or a hint
  };

  [[nodiscard]] bool update(family& changed);
  void predict(node rule);

  costs seconds_;
  std::vector<cost_source> sources_;
  std::map<std::string, family> families_;
  std::vector<family*> near_;  // of each rule: same kind, same batch
  std::vector<family*> far_;   // of each rule: same kind
};

}  // namespace weft::batch
