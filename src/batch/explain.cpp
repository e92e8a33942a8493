#include <weft/batch/explain.hpp>

#include <algorithm>

#include <weft/batch/slack.hpp>

namespace weft::batch {
namespace {

// Calls `visit` with every rule that `rule` comes right after, also through batches.
template <class Visit>
void for_each_before(const graph& shape, node rule, std::vector<bool>& seen, Visit visit) {
  std::vector<node> open(shape.predecessors(rule).begin(), shape.predecessors(rule).end());
  std::vector<node> marked;
  while (!open.empty()) {
    const node n = open.back();
    open.pop_back();
    if (seen[n]) continue;
    seen[n] = true;
    marked.push_back(n);
    if (!shape.is_gate(n)) {
      visit(n);
    } else {
      open.insert(open.end(), shape.predecessors(n).begin(), shape.predecessors(n).end());
    }
  }
  for (const node n : marked) seen[n] = false;
}

// When each node was through, and by whose end; gates are through with the last before them.
struct passing {
  double when = 0;
  std::optional<node> by = std::nullopt;
};

std::vector<passing> passings(const graph& shape, const run_record& record) {
  std::vector<passing> made(shape.node_count());
  for (const node n : shape.order()) {
    if (!shape.is_gate(n)) {
      const rule_record& rule = record.rules[n];
      if (has_run(rule.status)) made[n] = {rule.end(), n};
      continue;
    }
    for (const node before : shape.predecessors(n)) {
      if (made[before].by && made[before].when >= made[n].when) made[n] = made[before];
    }
  }
  return made;
}

// The rule whose end made this one ready.
std::optional<node> last_before(const graph& shape, const std::vector<passing>& through,
                                node rule) {
  passing last;
  for (const node before : shape.predecessors(rule)) {
    if (through[before].by && through[before].when >= last.when) last = through[before];
  }
  return last.by;
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
  std::vector<bool> seen(shape.node_count(), false);
  for_each_before(shape, target, seen, [&](node) { ++made.before; });
  const std::vector<passing> through = passings(shape, record);
  made.last_before = last_before(shape, through, target);
  for (node other = 0; other < shape.rule_count(); ++other) {
    if (record.rules[other].status == rule_status::skipped) continue;
    if (last_before(shape, through, other) == target) ++made.released;
  }
  made.slack = slack_of(shape, taken)[rule];
  const std::vector<unsigned> weight(record.rules.size(), 1);
  const auto path = bound_of(shape, taken, weight, 1).path;
  made.is_critical = std::ranges::find(path, target) != path.end();
  if (has_run(record.rules[rule].status)) explain_start(made, record);
  return made;
}

}  // namespace weft::batch
