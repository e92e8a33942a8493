#include "config.hpp"

static std::uint64_t sum(int first, int last) {
  std::uint64_t total = 0;
  for (int i = first; i < last; ++i) total += skew::item(i);
  return total;
}

int main(int argc, char** argv) { skew::measure(bench::parse(argc, argv), sum); }
