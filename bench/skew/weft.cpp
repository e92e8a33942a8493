#include "config.hpp"

#include "../support/weft.hpp"

static std::uint64_t sum(int first, int last) {
  if (last - first == 1) return skew::item(first);
  const int middle = first + (last - first) / 2;
  auto [a, b] = weft::join([=] { return sum(first, middle); }, [=] { return sum(middle, last); });
  return a + b;
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  skew::measure(options,
                [&](int first, int last) { return runtime.run([=] { return sum(first, last); }); });
}
