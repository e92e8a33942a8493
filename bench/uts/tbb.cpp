#include <vector>

#include "config.hpp"

#include "../support/tbb.hpp"

static long visit(uts::id id);

// `nodes` has room for the result of every child.
static long visit_children(uts::id parent, int count, long* nodes) {
  tbb::task_group group;
  for (int i = 0; i + 1 < count; ++i) {
    group.run([=] { nodes[i] = visit(uts::child(parent, i)); });
  }
  long sum = visit(uts::child(parent, count - 1));
  group.wait();
  for (int i = 0; i + 1 < count; ++i) sum += nodes[i];
  return sum;
}

static long visit(uts::id id) {
  const auto node = uts::digest(id);
  const int count = uts::child_count(node);
  if (count == 0) return 1;
  long nodes[uts::children_max];
  return 1 + visit_children(node, count, nodes);
}

int main(int argc, char** argv) {
  bench::allow_deep_stacks();
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads, bench::deep_stack_bytes);
  uts::measure(options, [&](uts::id root, int count) {
    std::vector<long> nodes(static_cast<std::size_t>(count));
    return runtime.run([&] { return visit_children(root, count, nodes.data()); });
  });
}
