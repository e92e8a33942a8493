#include "config.hpp"

#include "../support/tbb.hpp"

static std::uint64_t sum(int first, int last) {
  if (last - first == 1) return skew::item(first);
  const int middle = first + (last - first) / 2;
  std::uint64_t a = 0;
  tbb::task_group group;
  group.run([&] { a = sum(first, middle); });
  const auto b = sum(middle, last);
  group.wait();
  return a + b;
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  skew::measure(options,
                [&](int first, int last) { return runtime.run([=] { return sum(first, last); }); });
}
