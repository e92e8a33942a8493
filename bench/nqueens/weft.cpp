#include "config.hpp"

#include "../support/weft.hpp"

static long solve(nqueens::board board);

// The children of `board` on `squares`, of which there is at least one.
static long solve_children(nqueens::board board, std::uint32_t squares) {
  const auto first = nqueens::first_of(squares);
  const auto rest = nqueens::rest_of(squares);
  if (rest == 0) return solve(board.place(first));
  auto [a, b] = weft::join([=] { return solve(board.place(first)); },
                           [=] { return solve_children(board, rest); });
  return a + b;
}

static long solve(nqueens::board board) {
  if (board.complete()) return 1;
  const auto squares = board.free_squares();
  return squares == 0 ? 0 : solve_children(board, squares);
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  nqueens::measure(options,
                   [&](nqueens::board board) { return runtime.run([=] { return solve(board); }); });
}
