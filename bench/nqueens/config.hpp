#pragma once

#include <cstdint>

#include "../support/measure.hpp"
#include "../support/spin.hpp"

// Counts the ways to place n queens. A node of the search tree is a partial board; its children are
// the free squares of the next row. A node with k children forks k - 1 times, whatever the depth:
// no cutoff.
//
// Shape, equal for every library: the first k - 1 children are forked one by one, the last is a
// plain call. Where the library forks pairs, "fork child i and go on" is join(child i, children i +
// 1 ...); where it forks tasks, it is spawn(child i), and one wait for the node.
namespace nqueens {

struct instance {
  int n;
  long solutions;
};
inline constexpr instance full{12, 14200};
inline constexpr instance quick = full;
inline constexpr instance warm{8, 92};

// Bit c of each mask: column c of the next row is attacked along the column or along a diagonal.
struct board {
  std::uint32_t columns_left;  // Columns without a queen; none is left when the board is complete.
  std::uint32_t down_right;
  std::uint32_t down_left;

  [[nodiscard]] bool complete() const noexcept { return columns_left == 0; }
  [[nodiscard]] std::uint32_t free_squares() const noexcept {
    return columns_left & ~(down_right | down_left);
  }
  [[nodiscard]] board place(std::uint32_t square) const noexcept {
    return {columns_left & ~square, (down_right | square) << 1, (down_left | square) >> 1};
  }
};

inline board empty_board(int n) { return {(1u << n) - 1, 0, 0}; }

constexpr std::uint32_t first_of(std::uint32_t squares) { return squares & (~squares + 1); }
constexpr std::uint32_t rest_of(std::uint32_t squares) { return squares & (squares - 1); }

// `solve(board)` returns the number of solutions below the board.
template <class Solve>
void measure(const bench::options& with, Solve&& solve) {
  const auto run = [&](instance problem) {
    bench::opaque(problem.n);
    if (solve(empty_board(problem.n)) != problem.solutions) bench::fail("nqueens: wrong result");
  };
  bench::measure_time(with, [&] { run(warm); }, [&] { run(with.quick ? quick : full); });
}

}  // namespace nqueens
