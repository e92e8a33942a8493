#include "config.hpp"

#include "../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  memory::measure<bench::tbb_runtime>(options);
}
