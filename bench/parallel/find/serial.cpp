#include "config.hpp"

#include <algorithm>

int main(int argc, char** argv) {
  find::measure(bench::parse(argc, argv), [](const std::int32_t* first, const std::int32_t* last) {
    return std::find_if(first, last, find::is_match);
  });
}
