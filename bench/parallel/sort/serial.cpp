#include "config.hpp"

#include <algorithm>

int main(int argc, char** argv) {
  sort::measure(bench::parse(argc, argv),
                [](auto& values) { std::sort(values.begin(), values.end()); });
}
