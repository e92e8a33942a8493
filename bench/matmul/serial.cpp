#include "config.hpp"

static void multiply(matmul::product p) {
  if (p.is_leaf()) return matmul::multiply_leaf(p);
  for (const int phase : {0, 1}) {
    multiply(p.part(phase, 0, 0));
    multiply(p.part(phase, 0, 1));
    multiply(p.part(phase, 1, 0));
    multiply(p.part(phase, 1, 1));
  }
}

int main(int argc, char** argv) { matmul::measure(bench::parse(argc, argv), multiply); }
