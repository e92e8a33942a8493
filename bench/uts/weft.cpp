#include "config.hpp"

#include "../support/weft.hpp"

static long visit_children(uts::id parent, int first, int count);

static long visit(uts::id id) {
  const auto node = uts::digest(id);
  const int count = uts::child_count(node);
  return count == 0 ? 1 : 1 + visit_children(node, 0, count);
}

// Children first .. count - 1, of which there is at least one.
static long visit_children(uts::id parent, int first, int count) {
  if (first + 1 == count) return visit(uts::child(parent, first));
  auto [a, b] = weft::join([=] { return visit(uts::child(parent, first)); },
                           [=] { return visit_children(parent, first + 1, count); });
  return a + b;
}

int main(int argc, char** argv) {
  bench::allow_deep_stacks();
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads, bench::deep_stack_bytes);
  uts::measure(options, [&](uts::id root, int count) {
    return runtime.run([=] { return visit_children(root, 0, count); });
  });
}
