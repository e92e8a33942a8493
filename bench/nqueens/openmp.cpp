#include <array>
#include <cstddef>
#include <numeric>

#include "config.hpp"

#include "../support/openmp.hpp"

static long solve(nqueens::board board) {
  if (board.complete()) return 1;
  auto squares = board.free_squares();
  if (squares == 0) return 0;
  std::array<long, 32> solutions;
  std::size_t children = 0;
  for (; nqueens::rest_of(squares) != 0; squares = nqueens::rest_of(squares), ++children) {
    const auto child = board.place(nqueens::first_of(squares));
    long* const out = &solutions[children];
#pragma omp task firstprivate(child, out)
    *out = solve(child);
  }
  solutions[children++] = solve(board.place(squares));
#pragma omp taskwait
  return std::accumulate(solutions.begin(), solutions.begin() + children, 0L);
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::openmp_runtime runtime(options.threads);
  nqueens::measure(options, [&](nqueens::board board) {
    long result = 0;
    runtime.run([&] { result = solve(board); });
    return result;
  });
}
