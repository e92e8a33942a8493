#include "config.hpp"

static long visit_children(uts::id parent, int count) {
  long nodes = 0;
  for (int i = 0; i < count; ++i) {
    const auto node = uts::digest(uts::child(parent, i));
    nodes += 1 + visit_children(node, uts::child_count(node));
  }
  return nodes;
}

int main(int argc, char** argv) {
  bench::allow_deep_stacks();
  uts::measure(bench::parse(argc, argv), visit_children);
}
