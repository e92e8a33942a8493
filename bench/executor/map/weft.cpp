#include <ranges>

#include "config.hpp"

#include <weft/weft.hpp>

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  weft::executor ex({.max_workers = static_cast<unsigned>(options.threads),
                     .sizing = weft::sizing_policy::fixed});
  executor_map::measure(options, [&](std::size_t items, executor_map::body f) {
    executor_map::checksum sum;
    for (auto&& r : ex.map(f, std::views::iota(std::size_t{0}, items))) sum.add(r);
    return sum.value();
  });
}
