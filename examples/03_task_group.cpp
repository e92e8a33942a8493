// Any number of jobs that end together: they may use what is on the stack of whoever waits.

#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

int main() {
  weft::pool pool;

  std::vector<int> squares(10);
  weft::task_group group(pool);
  for (int i = 0; i < 10; ++i) {
    group.spawn([&squares, i] { squares[static_cast<std::size_t>(i)] = i * i; });
  }
  group.wait();
  std::printf("sum of squares: %d\n", std::accumulate(squares.begin(), squares.end(), 0));

  // Every job runs, whichever fails. wait() throws the first error by order of spawning, as a loop
  // would, and not the one that happened to come first.
  std::vector<int> ran(10);
  for (int i = 0; i < 10; ++i) {
    group.spawn([&ran, i] {
      ran[static_cast<std::size_t>(i)] = 1;
      if (i == 3 || i == 7) throw std::runtime_error("item " + std::to_string(i) + " failed");
    });
  }
  try {
    group.wait();
  } catch (const std::runtime_error& e) {
    std::printf("%s; %d of 10 ran\n", e.what(), std::accumulate(ran.begin(), ran.end(), 0));
  }

  // Inside a job a group without arguments belongs to the same pool, and jobs may add to it.
  const int leaves = pool.run([] {
    std::vector<int> left(2);
    std::vector<int> right(2);
    weft::task_group tree;
    tree.spawn([&] {
      for (int& leaf : left) tree.spawn([&leaf] { leaf = 1; });
    });
    tree.spawn([&] {
      for (int& leaf : right) tree.spawn([&leaf] { leaf = 1; });
    });
    tree.wait();
    return left[0] + left[1] + right[0] + right[1];
  });
  std::printf("leaves: %d\n", leaves);
}
