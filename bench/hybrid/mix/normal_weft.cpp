#include "weft.hpp"

int main(int argc, char** argv) {
  return hybrid_mix::measure_weft(argc, argv, weft::cpu_class::normal);
}
