#include <weft/batch/explain.hpp>

#include <algorithm>

#include <weft/batch/slack.hpp>

#include "batch/waited_for.hpp"

namespace weft::batch {
namespace {

// How many rules a rule comes after, directly, through batches or because of barriers.
std::size_t count_before(const graph& shape, const run_record& record, node rule) {
  std::vector<bool> seen(shape.node_count(), false);
  std::vector<node> open(shape.predecessors(rule).begin(), shape.predecessors(rule).end());
  std::size_t count = 0;
  while (!open.empty()) {
    const node n = open.back();
    open.pop_back();
    if (seen[n]) continue;
    seen[n] = true;
    if (!shape.is_gate(n)) {
      ++count;
    } else {
      open.insert(open.end(), shape.predecessors(n).begin(), shape.predecessors(n).end());
    }
  }
  const std::vector<std::optional<double>> begins = batch_begins(record);
  for (node other = 0; begins[rule] && other < shape.rule_count(); ++other) {
    if (!seen[other] && begins[other] && *begins[other] < *begins[rule]) ++count;
  }
  return count;
}

double first_start(const rule_record& rule) {
  return rule.earlier.empty() ? rule.start : rule.earlier.front().start;
}

void explain_start(explanation& made, const run_record& record) {
  const rule_record& rule = record.rules[made.rule];
  const double start = rule.start;
  const double held =
      std::clamp(rule.held.value_or(start), rule.ready, std::max(rule.ready, start));
  made.waited_for_worker = std::max(0.0, held - rule.ready);
  made.waited_for_room = std::max(0.0, start - held);
  std::optional<double> way_made;
  for (std::size_t i = 0; i < record.rules.size(); ++i) {
    const rule_record& other = record.rules[i];
    if (i == made.rule || !has_run(other.status)) continue;
    if (first_start(other) >= rule.ready && first_start(other) < start) made.overtook.push_back(i);
    const bool ended_before = other.worker == rule.worker && other.end() <= start;
    if (ended_before && other.end() >= rule.ready && (!way_made || other.end() >= *way_made)) {
      way_made = other.end();
      made.made_way = i;
    }
  }
  std::ranges::stable_sort(made.overtook, {},
                           [&](std::size_t i) { return first_start(record.rules[i]); });
}

}  // namespace

explanation explain(const run_record& record, std::size_t rule) {
  const graph shape = graph_of(record);
  const costs taken = taken_by(record);
  const auto target = static_cast<node>(rule);
  explanation made{.rule = rule};
  made.before = count_before(shape, record, target);
  const std::vector<std::optional<node>> last_before = waited_for(shape, record);
  made.last_before = last_before[rule];
  for (node other = 0; other < shape.rule_count(); ++other) {
    if (record.rules[other].status == rule_status::skipped) continue;
    if (last_before[other] == target) ++made.released;
  }
  made.slack = slack_of(shape, taken)[rule];
  const std::vector<unsigned> weight(record.rules.size(), 1);
  const auto path = bound_of(shape, taken, weight, 1).path;
  made.is_critical = std::ranges::find(path, target) != path.end();
  if (has_run(record.rules[rule].status)) explain_start(made, record);
  return made;
}

}  // namespace weft::batch
