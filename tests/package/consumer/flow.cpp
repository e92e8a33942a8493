#include <cstdio>
#include <vector>

#include <weft/coro/sync_wait.hpp>
#include <weft/flow/each.hpp>

int main() {
  weft::hybrid_scheduler hs;
  int sum = 0;
  for (int x : weft::sync_wait(weft::each(hs, std::vector{20, 1}, [](int i) { return 2 * i; }))) {
    sum += x;
  }
  std::printf("%d\n", sum);
}
