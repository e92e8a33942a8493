#include "config.hpp"

int main(int argc, char** argv) {
  executor_map::measure(bench::parse(argc, argv), [](std::size_t items, executor_map::body f) {
    executor_map::checksum sum;
    for (std::size_t i = 0; i < items; ++i) sum.add(f(i));
    return sum.value();
  });
}
