#include "asio.hpp"

int main(int argc, char** argv) {
  return hybrid_mix::measure_separate(argc, argv, [] {});
}
