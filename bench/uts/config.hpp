#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "../support/deep_stack.hpp"
#include "../support/measure.hpp"
#include "../support/spin.hpp"

// Unbalanced tree search: counts the nodes of a random tree that is deterministic but cannot be
// foreseen. The root has many children; any other node has 8 with probability 0.124875 and else
// none, so most subtrees are a single node, a few hold most of the tree, and no split by position
// balances them. A node costs about 50 ns. (After Olivier et al., "UTS: An Unbalanced Tree Search
// Benchmark", LCPC 2006, with a cheaper hash in place of SHA-1.)
//
// Shape, equal for every library: of k children the first k - 1 are forked one by one, the last is
// a plain call. Where the library forks pairs, "fork child i and go on" is join(child i, children i
// + 1 ...); where it forks tasks, it is spawn(child i), and one wait for the node. No cutoff, no
// splitting of the list in halves.
namespace uts {

using id = std::uint64_t;

struct instance {
  id root;
  int root_children;
  long nodes;
};
inline constexpr instance full{312, 2000, 4'138'017};
inline constexpr instance quick{66, 500, 1'090'997};
inline constexpr instance warm{35, 30, 27'943};

inline constexpr int children_max = 8;

// The cost of a node: six independent chains of the SplitMix64 mixer. They fill the execution units
// by themselves; a single chain would let serial code overlap neighbouring nodes and look twice as
// fast as it is.
inline id digest(id x) noexcept {
  std::array<id, 6> lanes;
  for (id lane = 0; lane < lanes.size(); ++lane) lanes[lane] = x + lane * 0x9e3779b97f4a7c15;
  for (int round = 0; round < 8; ++round) {
    for (auto& lane : lanes) {
      lane = (lane ^ (lane >> 30)) * 0xbf58476d1ce4e5b9;
      lane = (lane ^ (lane >> 27)) * 0x94d049bb133111eb;
      lane ^= lane >> 31;
    }
  }
  const id sum = std::accumulate(lanes.begin(), lanes.end(), id{0});
  return sum ^ (sum >> 29);
}

inline int child_count(id digested) noexcept {
  constexpr id threshold = 0x1ff7ced916872b00;  // 0.124875 of the range of a digest.
  return digested < threshold ? children_max : 0;
}

inline id child(id digested, int index) noexcept { return digested + static_cast<id>(index) + 1; }

// `solve(digest of the root, number of its children)` returns the number of nodes below the root.
template <class Solve>
void measure(const bench::options& with, Solve&& solve) {
  const auto run = [&](instance tree) {
    bench::opaque(tree.root);
    if (1 + solve(digest(tree.root), tree.root_children) != tree.nodes) {
      bench::fail("uts: wrong number of nodes");
    }
  };
  bench::measure_time(with, [&] { run(warm); }, [&] { run(with.quick ? quick : full); });
}

}  // namespace uts
