#include "config.hpp"

#include <numeric>

int main(int argc, char** argv) {
  reduce::measure(bench::parse(argc, argv),
                  [](const std::int32_t* first, const std::int32_t* last) {
                    return std::accumulate(first, last, 0L);
                  });
}
