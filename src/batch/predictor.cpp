#include "batch/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "batch/seconds.hpp"

namespace weft::batch {
namespace {

// What kind of thing a rule does.
std::string kind_of(const rule& r) {
  if (r.check) return "check " + std::string(name_of(*r.check));
  if (!r.command.empty()) return "command " + r.command[0];
  if (!r.shell.empty()) return "shell " + r.shell.substr(0, r.shell.find(' '));
  return "function";
}

}  // namespace

predictor::predictor(const plan& of, const std::vector<std::string>& input_class,
                     const profiles* known)
    : seconds_(of.rules().size(), guess_seconds),
      sources_(of.rules().size(), cost_source::guess),
      near_(of.rules().size()),
      far_(of.rules().size()) {
  for (node n = 0; n < of.rules().size(); ++n) {
    const rule& r = of.rules()[n];
    const std::string kind = kind_of(r);
    far_[n] = &families_[kind];
    near_[n] = &families_[kind + '\n' + r.batch];
    const profile* const seen =
        known == nullptr ? nullptr : known->nearest(profile_key_view{r.id, input_class[n]});
    if (seen != nullptr && seen->n > 0) {
      seconds_[n] = seen->estimate();
      sources_[n] = cost_source::profile;
    } else if (r.cost.count() > 0) {
      seconds_[n] = seconds_of(r.cost);
      sources_[n] = cost_source::hint;
    } else {
      near_[n]->members.push_back(n);
      far_[n]->members.push_back(n);
      continue;
    }
    near_[n]->seen.push_back(seconds_[n]);
    far_[n]->seen.push_back(seconds_[n]);
  }
  for (auto& [name, each] : families_) {
    if (!each.seen.empty()) static_cast<void>(update(each));
  }
  for (node n = 0; n < seconds_.size(); ++n) predict(n);
}

bool predictor::learn(node rule, double seconds) {
  bool changed = false;
  for (family* const each : {near_[rule], far_[rule]}) {
    each->seen.push_back(seconds);
    if (each->seen.size() < each->next_look || each->members.empty() || !update(*each)) continue;
    for (const node member : each->members) predict(member);
    changed = true;
  }
  return changed;
}

bool predictor::update(family& changed) {
  changed.next_look = 2 * changed.seen.size();
  const auto middle = changed.seen.begin() + static_cast<std::ptrdiff_t>(changed.seen.size() / 2);
  std::ranges::nth_element(changed.seen, middle);
  // What moves by less would not change an order that matters, and costs a look at every rule.
  constexpr double noticeable = 0.1;
  const double before = std::exchange(changed.median, *middle);
  return std::abs(changed.median - before) > noticeable * before;
}

void predictor::predict(node rule) {
  if (sources_[rule] == cost_source::profile || sources_[rule] == cost_source::hint) return;
  const family& like = near_[rule]->seen.empty() ? *far_[rule] : *near_[rule];
  if (like.median <= 0) return;
  seconds_[rule] = like.median;
  sources_[rule] = cost_source::similar;
}

}  // namespace weft::batch
