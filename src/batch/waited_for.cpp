#include "batch/waited_for.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace weft::batch {

std::vector<std::optional<double>> batch_begins(const run_record& record) {
  std::unordered_map<std::string_view, double> began;
  for (const batch_record& batch : record.batches) {
    if (record.barriers && batch.workers) began.emplace(batch.id, batch.began);
  }
  std::vector<std::optional<double>> begins(record.rules.size());
  for (std::size_t r = 0; r < begins.size(); ++r) {
    if (const auto at = began.find(record.rules[r].batch); at != began.end()) {
      begins[r] = at->second;
    }
  }
  return begins;
}

std::vector<std::optional<node>> waited_for(const graph& shape, const run_record& record) {
  std::vector<std::optional<node>> last(shape.node_count());
  const auto consider = [&](std::optional<node>& latest, std::optional<node> rule) {
    if (!rule || !has_run(record.rules[*rule].status)) return;
    if (!latest || record.rules[*rule].end() > record.rules[*latest].end()) latest = rule;
  };
  for (const node n : shape.order()) {
    for (const node before : shape.predecessors(n)) {
      consider(last[n], shape.is_gate(before) ? last[before] : before);
    }
  }
  last.resize(shape.rule_count());

  const std::vector<std::optional<double>> begins = batch_begins(record);
  std::vector<node> by_batch;
  for (node r = 0; r < shape.rule_count(); ++r) {
    if (begins[r]) by_batch.push_back(r);
  }
  const auto begin_of = [&](node rule) { return *begins[rule]; };
  std::ranges::stable_sort(by_batch, {}, begin_of);
  std::optional<node> of_earlier_batches;
  for (auto batch = by_batch.begin(); batch != by_batch.end();) {
    const auto next =
        std::ranges::upper_bound(batch, by_batch.end(), begin_of(*batch), {}, begin_of);
    for (auto rule = batch; rule != next; ++rule) consider(last[*rule], of_earlier_batches);
    for (; batch != next; ++batch) consider(of_earlier_batches, *batch);
  }
  return last;
}

}  // namespace weft::batch
