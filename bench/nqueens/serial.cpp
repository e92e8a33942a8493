#include "config.hpp"

static long solve(nqueens::board board) {
  if (board.complete()) return 1;
  long solutions = 0;
  for (auto squares = board.free_squares(); squares != 0; squares = nqueens::rest_of(squares)) {
    solutions += solve(board.place(nqueens::first_of(squares)));
  }
  return solutions;
}

int main(int argc, char** argv) { nqueens::measure(bench::parse(argc, argv), solve); }
