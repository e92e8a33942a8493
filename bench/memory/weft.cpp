#include "config.hpp"

#include "../support/weft.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  memory::measure<bench::weft_runtime>(options);
}
