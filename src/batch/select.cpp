#include <weft/batch/select.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ranges>
#include <system_error>
#include <utility>

#include <weft/batch/graph.hpp>
#include <weft/batch/profile_store.hpp>

#include "batch/glob.hpp"
#include "batch/input_class.hpp"
#include "batch/predictor.hpp"

namespace weft::batch {
namespace {

// Marks everything that a node comes after, and returns the rules that were not marked before.
std::vector<node> mark_needed(const graph& shape, node from, std::vector<bool>& marked) {
  std::vector<node> added;
  std::vector<node> todo;
  const auto mark = [&](node n) {
    if (marked[n]) return;
    marked[n] = true;
    todo.push_back(n);
    if (!shape.is_gate(n)) added.push_back(n);
  };
  mark(from);
  while (!todo.empty()) {
    const node n = todo.back();
    todo.pop_back();
    for (const node before : shape.predecessors(n)) mark(before);
  }
  return added;
}

plan without_rules(const plan& from, const graph& shape) {
  plan made(from.name());
  made.set_directory(from.directory());
  for (const batch_info& batch : from.batches()) made.add_batch(batch);
  if (!from.batches().empty()) return made;
  // Rules may come after a batch that is known by the names of its rules alone.
  for (std::size_t b = 0; b < shape.batch_count(); ++b) {
    if (!shape.batch_name(b).empty()) made.add_batch({.id = shape.batch_name(b)});
  }
  return made;
}

plan only_marked(const plan& from, const graph& shape, const std::vector<bool>& marked) {
  std::vector<std::string_view> gone;
  for (node r = 0; r < shape.rule_count(); ++r) {
    if (!marked[r]) gone.push_back(from.rules()[r].id);
  }
  std::ranges::sort(gone);
  plan made = without_rules(from, shape);
  for (node r = 0; r < shape.rule_count(); ++r) {
    if (!marked[r]) continue;
    rule kept = from.rules()[r];
    std::erase_if(kept.after,
                  [&](const std::string& id) { return std::ranges::binary_search(gone, id); });
    made.add(std::move(kept));
  }
  return made;
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& id) {
  return std::ranges::any_of(patterns,
                             [&](const std::string& each) { return matches_glob(each, id); });
}

}  // namespace

plan select(const plan& from, const selection& wanted) {
  const graph shape(from);
  const bool all = wanted.only.empty() && wanted.tags.empty();
  std::vector<bool> marked(shape.node_count(), all);
  for (node r = 0; r < shape.rule_count() && !all; ++r) {
    const rule& each = from.rules()[r];
    const bool tagged = std::ranges::any_of(each.tags, [&](const std::string& tag) {
      return std::ranges::find(wanted.tags, tag) != wanted.tags.end();
    });
    if (tagged || matches_any(wanted.only, each.id)) mark_needed(shape, r, marked);
  }
  std::vector<std::string> done = wanted.done;
  std::ranges::sort(done);
  for (node r = 0; r < shape.rule_count(); ++r) {
    const std::string& id = from.rules()[r].id;
    if (matches_any(wanted.skip, id) || std::ranges::binary_search(done, id)) marked[r] = false;
  }
  return only_marked(from, shape, marked);
}

plan select(const plan& from, const shard& part, std::span<const double> cost) {
  const graph shape(from);
  std::vector<node> last;  // rules that nothing comes after
  for (node r = 0; r < shape.rule_count(); ++r) {
    const bool followed = std::ranges::any_of(shape.successors(r), [&](node next) {
      return !shape.is_gate(next) || !shape.successors(next).empty();
    });
    if (!followed) last.push_back(r);
  }
  // A rule brings along what it comes after, so that counts for its size too. Many, such as those
  // of a batch, come after the same.
  std::vector<double> whole(shape.rule_count(), 0);
  std::map<std::vector<node>, double> brought;
  for (const node r : last) {
    const auto before = shape.predecessors(r);
    const auto [at, added] = brought.try_emplace({before.begin(), before.end()}, 0);
    if (added) {
      std::vector<bool> fresh(shape.node_count(), false);
      for (const node b : before) {
        for (const node needed : mark_needed(shape, b, fresh)) at->second += cost[needed];
      }
    }
    whole[r] = cost[r] + at->second;
  }
  std::ranges::stable_sort(last, std::ranges::greater{}, [&](node r) { return whole[r]; });

  std::vector<double> load(part.count, 0);
  std::vector<std::vector<bool>> marked(part.count, std::vector<bool>(shape.node_count(), false));
  for (const node r : last) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(load) - load.begin());
    for (const node needed : mark_needed(shape, r, marked[least])) load[least] += cost[needed];
  }
  return only_marked(from, shape, marked[part.index - 1]);
}

expectation expect(const plan& of, const std::string& profiles_file) {
  loaded_profiles known;
  std::string problem;
  std::error_code ignored;
  if (!profiles_file.empty() && std::filesystem::exists(profiles_file, ignored)) {
    // Only a look: it is the run that sets aside a file that cannot be used.
    if (auto read = read_profiles(profiles_file)) {
      known = std::move(*read);
    } else {
      problem = read.error().message;
    }
  }
  std::vector<std::string> classes;
  for (const rule& r : of.rules()) classes.push_back(input_class(r, of.directory()));
  const predictor predicted(of, classes, &known.values);
  return {predicted.seconds(), predicted.sources(), std::move(problem)};
}

std::vector<double> expected_costs(const plan& of, const std::string& profiles) {
  return expect(of, profiles).seconds;
}

}  // namespace weft::batch
