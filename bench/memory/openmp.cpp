#include "config.hpp"

#include "../support/openmp.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  memory::measure<bench::openmp_runtime>(options);
}
