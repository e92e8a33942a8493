#include "config.hpp"

#include <numeric>

int main(int argc, char** argv) {
  scan::measure(bench::parse(argc, argv),
                [](const std::int32_t* in, std::int32_t* out, std::size_t size) {
                  std::inclusive_scan(in, in + size, out);
                });
}
