#include <array>
#include <cstddef>
#include <numeric>

#include "config.hpp"

#include "../support/tbb.hpp"

static long solve(nqueens::board board) {
  if (board.complete()) return 1;
  auto squares = board.free_squares();
  if (squares == 0) return 0;
  std::array<long, 32> solutions;
  std::size_t children = 0;
  tbb::task_group group;
  for (; nqueens::rest_of(squares) != 0; squares = nqueens::rest_of(squares), ++children) {
    const auto child = board.place(nqueens::first_of(squares));
    group.run([child, &out = solutions[children]] { out = solve(child); });
  }
  solutions[children++] = solve(board.place(squares));
  group.wait();
  return std::accumulate(solutions.begin(), solutions.begin() + children, 0L);
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  nqueens::measure(options,
                   [&](nqueens::board board) { return runtime.run([=] { return solve(board); }); });
}
