#include "batch/wiring.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <weft/base/utf8.hpp>

#include "base/nearest.hpp"

namespace weft::batch {
namespace {

struct meaning {
  bool is_batch = false;
  std::uint32_t index = 0;
};

class wirer {
 public:
  explicit wirer(const plan& of) : plan_(of) {
    wires_.rule_count = static_cast<node>(of.rules().size());
  }

  wiring wire() {
    name_batches();
    name_rules();
    for (std::uint32_t b = 0; b < plan_.batches().size(); ++b) wire_batch(b);
    for (node r = 0; r < wires_.rule_count; ++r) wire_rule(r);
    return std::move(wires_);
  }

 private:
  void report(const std::string& where, std::string field, std::string message) {
    wires_.problems.push_back({where, std::move(field), std::move(message)});
  }

  void name_batches() {
    for (const batch_info& batch : plan_.batches()) add_batch(batch.id);
    // A plan that declares no batch has those that its rules name.
    if (!plan_.batches().empty()) return;
    for (const rule& r : plan_.rules()) {
      if (!r.batch.empty() && !names_.contains(r.batch)) add_batch(r.batch);
    }
  }

  void add_batch(const std::string& id) {
    const auto index = static_cast<std::uint32_t>(wires_.batch_names.size());
    wires_.batch_names.push_back(id);
    if (!names_.emplace(id, meaning{.is_batch = true, .index = index}).second) {
      report(id, "id", "is the id of another batch too; ids are unique");
    }
  }

  void name_rules() {
    for (node r = 0; r < wires_.rule_count; ++r) {
      const std::string& id = plan_.rules()[r].id;
      const auto [at, added] = names_.emplace(id, meaning{.is_batch = false, .index = r});
      if (added) continue;
      report(id, "id",
             std::string("is the id of ") + (at->second.is_batch ? "a batch" : "another rule") +
                 " too; ids are unique");
    }
  }

  void wire_batch(std::uint32_t index) {
    const batch_info& batch = plan_.batches()[index];
    for (const std::string& name : batch.after) {
      const meaning* const found = find(batch.id, "after", name, "batch");
      if (found == nullptr) continue;
      if (!found->is_batch) {
        report(batch.id, "after",
               "\"" + base::printable(name) + "\" is a rule; a batch comes after batches");
      } else if (found->index == index) {
        report(batch.id, "after", "comes after itself");
      } else {
        connect(wires_.end_of(found->index), wires_.begin_of(index));
      }
    }
    connect(wires_.begin_of(index), wires_.end_of(index));  // also when it has no rules
  }

  void wire_rule(node index) {
    const rule& r = plan_.rules()[index];
    const auto batch = batch_of(r);
    wires_.batch_of.push_back(batch);
    if (!r.batch.empty()) {
      // Rules of a batch that waits for nothing need no gate before them.
      if (batch < plan_.batches().size() && !plan_.batches()[batch].after.empty()) {
        connect(wires_.begin_of(batch), index);
      }
      connect(index, wires_.end_of(batch));
    }
    for (const std::string& name : r.after) {
      const meaning* const found = find(r.id, "after", name, "rule or batch");
      if (found == nullptr) continue;
      if (found->is_batch && found->index == batch && !r.batch.empty()) {
        report(r.id, "after", "comes after its own batch \"" + base::printable(name) + "\"");
      } else if (!found->is_batch && found->index == index) {
        report(r.id, "after", "comes after itself");
      } else {
        connect(found->is_batch ? wires_.end_of(found->index) : found->index, index);
      }
    }
  }

  // Rules without a batch, or with one that is unknown, share a last one without a name.
  std::uint32_t batch_of(const rule& r) {
    if (!r.batch.empty()) {
      const meaning* const found = find(r.id, "batch", r.batch, "batch");
      if (found != nullptr && found->is_batch) return found->index;
      if (found != nullptr) {
        report(r.id, "batch", "\"" + base::printable(r.batch) + "\" is a rule");
      }
    }
    if (wires_.batch_names.empty() || !wires_.batch_names.back().empty()) {
      wires_.batch_names.emplace_back();
    }
    return static_cast<std::uint32_t>(wires_.batch_names.size() - 1);
  }

  const meaning* find(const std::string& where, std::string field, const std::string& name,
                      std::string_view kind) {
    const auto at = names_.find(name);
    if (at != names_.end()) return &at->second;
    std::string message = "there is no " + std::string(kind) + " \"" + base::printable(name) + "\"";
    constexpr std::size_t enough = 20;  // nobody reads more, and each looks at every name
    if (wires_.problems.size() >= enough) {
      report(where, std::move(field), std::move(message));
      return nullptr;
    }
    std::vector<std::string_view> known;
    for (const auto& [id, what] : names_) {
      if (kind != "batch" || what.is_batch) known.push_back(id);
    }
    std::ranges::sort(known);  // a map without order must not decide what is suggested
    const std::string_view meant = base::nearest(name, known);
    if (!meant.empty()) message += "; did you mean \"" + base::printable(meant) + "\"?";
    report(where, std::move(field), std::move(message));
    return nullptr;
  }

  void connect(node before, node after) { wires_.edges.emplace_back(before, after); }

  const plan& plan_;
  wiring wires_;
  std::unordered_map<std::string_view, meaning> names_;
};

}  // namespace

wiring wire(const plan& of) { return wirer(of).wire(); }

std::vector<node> topological_order(node nodes, const std::vector<std::pair<node, node>>& edges) {
  std::vector<std::uint32_t> begins(nodes + 1, 0);
  std::vector<std::uint32_t> missing(nodes, 0);
  for (const auto& [before, after] : edges) {
    ++begins[before + 1];
    ++missing[after];
  }
  for (node n = 0; n < nodes; ++n) begins[n + 1] += begins[n];
  std::vector<node> successors(edges.size());
  std::vector<std::uint32_t> filled(begins.begin(), begins.end() - 1);
  for (const auto& [before, after] : edges) successors[filled[before]++] = after;

  std::vector<node> order;
  order.reserve(nodes);
  for (node n = 0; n < nodes; ++n) {
    if (missing[n] == 0) order.push_back(n);
  }
  for (std::size_t done = 0; done < order.size(); ++done) {
    const node n = order[done];
    for (std::uint32_t i = begins[n]; i < begins[n + 1]; ++i) {
      if (--missing[successors[i]] == 0) order.push_back(successors[i]);
    }
  }
  return order;
}

plan_problem describe_cycle(const plan& of, const wiring& wires, const std::vector<node>& order) {
  std::vector<bool> ordered(wires.node_count(), false);
  for (const node n : order) ordered[n] = true;
  // Every node that is left has a predecessor that is left: going back must come round.
  std::vector<node> predecessor(wires.node_count(), wires.node_count());
  for (const auto& [before, after] : wires.edges) {
    if (!ordered[before] && !ordered[after] && predecessor[after] == wires.node_count()) {
      predecessor[after] = before;
    }
  }
  node at = 0;
  while (ordered[at]) ++at;
  std::vector<bool> seen(wires.node_count(), false);
  for (; !seen[at]; at = predecessor[at]) seen[at] = true;

  std::vector<std::string> names;
  const node first = at;
  do {
    const bool is_rule = at < wires.rule_count;
    const std::string& name =
        is_rule ? of.rules()[at].id : wires.batch_names[(at - wires.rule_count) / 2];
    // A batch has two gates, and shows once.
    if (names.empty() || names.back() != name) names.push_back(name);
    at = predecessor[at];
  } while (at != first);
  if (names.size() > 1 && names.back() == names.front()) names.pop_back();

  std::ranges::reverse(names);
  std::ranges::rotate(names, std::ranges::min_element(names));
  std::string cycle;
  for (const std::string& name : names) cycle += base::printable(name) + " -> ";
  return {
      names.front(), "after",
      "these wait for each other, each before the next: " + cycle + base::printable(names.front())};
}

}  // namespace weft::batch
