// Fork-join against the plain recursive function: what a fork costs, and what it brings.
//
// Neither problem has a cutoff: every node of the recursion is a fork. A node of fib adds two
// numbers, so its line shows the price of a fork and nothing else. A node of queens tries the
// squares of one row, and there the second core pays.
//
// ./run prints the measurements; with --check only the results, which never vary.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

constexpr int fib_of = 36;
constexpr int board = 13;
constexpr int repetitions = 7;

long fib_serial(int n) { return n < 2 ? n : fib_serial(n - 1) + fib_serial(n - 2); }

long fib_parallel(int n) {
  if (n < 2) return n;
  auto [a, b] =
      weft::join([=] { return fib_parallel(n - 1); }, [=] { return fib_parallel(n - 2); });
  return a + b;
}

// Which columns and diagonals of the next row are attacked, one bit per column.
struct position {
  unsigned columns = 0, rising = 0, falling = 0;

  [[nodiscard]] unsigned open() const {
    return ~(columns | rising | falling) & ((1U << board) - 1);
  }
  [[nodiscard]] bool complete() const { return columns == (1U << board) - 1; }
  [[nodiscard]] position with(unsigned queen) const {
    return {columns | queen, (rising | queen) << 1, (falling | queen) >> 1};
  }
};

long queens_serial(position p) {
  if (p.complete()) return 1;
  long found = 0;
  for (unsigned open = p.open(); open != 0; open &= open - 1) {
    found += queens_serial(p.with(open & -open));
  }
  return found;
}

long queens_parallel(position p);

// Forks the first open square and goes on with the others.
long queens_in_row(position p, unsigned open) {
  const position first = p.with(open & -open);
  open &= open - 1;
  if (open == 0) return queens_parallel(first);
  auto [a, b] =
      weft::join([=] { return queens_parallel(first); }, [=] { return queens_in_row(p, open); });
  return a + b;
}

long queens_parallel(position p) {
  if (p.complete()) return 1;
  return p.open() == 0 ? 0 : queens_in_row(p, p.open());
}

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Serial, class Parallel>
void measure(weft::pool& pool, const std::string& name, Serial serial, Parallel parallel) {
  std::vector<double> serial_time, parallel_time, steals, utilisation;
  const double workers = pool.workers();
  for (int i = 0; i < repetitions; ++i) {  // in turns, so that both meet the same disturbances
    const double start = seconds(CLOCK_MONOTONIC);
    const long expected = serial();
    const std::uint64_t stolen = pool.stats().stolen;
    const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    const double middle = seconds(CLOCK_MONOTONIC);
    const long result = pool.run(parallel);
    const double end = seconds(CLOCK_MONOTONIC);
    if (result != expected) std::printf("%s: got %ld, not %ld\n", name.c_str(), result, expected);
    serial_time.push_back(middle - start);
    parallel_time.push_back(end - middle);
    steals.push_back(static_cast<double>(pool.stats().stolen - stolen));
    utilisation.push_back((seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (workers * (end - middle)));
  }
  std::printf("%-12s %9.1f ms %9.1f ms %9.2f x %9.0f %11.0f %%\n", name.c_str(),
              1e3 * median(serial_time), 1e3 * median(parallel_time),
              median(serial_time) / median(parallel_time), median(steals),
              100 * median(utilisation));
}

}  // namespace

int main(int argc, char** argv) try {
  weft::pool pool;
  if (argc > 1 && std::strcmp(argv[1], "--check") == 0) {
    std::printf("fib(%d) = %ld\n", fib_of, pool.run([] { return fib_parallel(fib_of); }));
    std::printf("queens(%d) = %ld\n", board, pool.run([] { return queens_parallel({}); }));
    return 0;
  }
  std::printf("weft %s, %u workers, a fork at every node, medians of %d runs\n\n", WEFT_VERSION,
              pool.workers(), repetitions);
  std::printf("%-12s %12s %12s %11s %9s %13s\n", "", "serial", "parallel", "speed-up", "steals",
              "utilisation");
  volatile int n = fib_of;  // so that the compiler cannot know the answer
  measure(
      pool, "fib(" + std::to_string(fib_of) + ")", [&] { return fib_serial(n); },
      [&] { return fib_parallel(n); });
  volatile unsigned empty = 0;
  measure(
      pool, "queens(" + std::to_string(board) + ")",
      [&] { return queens_serial({.columns = empty}); },
      [&] { return queens_parallel({.columns = empty}); });
  std::printf(
      "\nA node of fib is one addition: its line is the price of a fork. That of queens is what\n"
      "forks are for. Steals are few: a thief takes the oldest piece, which is the largest.\n"
      "Utilisation is CPU time / (workers x time); other programs on the machine lower it.\n");
} catch (const std::exception& error) {  // WEFT_WORKERS may make no sense
  std::fprintf(stderr, "01_fork_join: %s\n", error.what());
  return 1;
}
