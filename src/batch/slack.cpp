#include <weft/batch/slack.hpp>

#include <algorithm>
#include <unordered_set>

namespace weft::batch {

graph graph_of(const run_record& record) {
  std::unordered_set<std::string_view> known;
  for (const rule_record& rule : record.rules) known.insert(rule.id);
  for (const batch_record& batch : record.batches) known.insert(batch.id);
  // A log that ends within its plan names rules that it does not have.
  const auto those_known = [&](const std::vector<std::string>& after) {
    std::vector<std::string> kept;
    std::ranges::copy_if(after, std::back_inserter(kept),
                         [&](const std::string& id) { return known.contains(id); });
    return kept;
  };
  plan shape(record.plan);
  for (const batch_record& batch : record.batches) {
    if (!batch.id.empty()) shape.add_batch({.id = batch.id, .after = those_known(batch.after)});
  }
  for (const rule_record& rule : record.rules) {
    shape.add({.id = rule.id,
               .batch = known.contains(rule.batch) ? rule.batch : "",
               .after = those_known(rule.after),
               .shell = ":"});
  }
  return graph(shape);
}

costs taken_by(const run_record& record) {
  costs taken;
  taken.reserve(record.rules.size());
  for (const rule_record& rule : record.rules) {
    taken.push_back(has_run(rule.status) ? rule.duration : 0);
  }
  return taken;
}

std::vector<double> slack_of(const graph& of, std::span<const double> cost) {
  const std::vector<double> rank = upward_ranks(of, cost);
  std::vector<double> earliest(of.node_count(), 0.0);
  double path = 0;
  for (const node n : of.order()) {
    path = std::max(path, earliest[n] + rank[n]);
    const double end = earliest[n] + (of.is_gate(n) ? 0.0 : cost[n]);
    for (const node next : of.successors(n)) earliest[next] = std::max(earliest[next], end);
  }
  std::vector<double> slack(of.rule_count());
  for (node r = 0; r < of.rule_count(); ++r) {
    slack[r] = std::max(0.0, path - earliest[r] - rank[r]);
  }
  return slack;
}

}  // namespace weft::batch
