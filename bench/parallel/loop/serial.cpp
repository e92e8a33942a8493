#include "config.hpp"

int main(int argc, char** argv) {
  loop::measure(bench::parse(argc, argv), "time", [](std::size_t size, const loop::body& body) {
    for (std::size_t i = 0; i < size; ++i) body(i);
  });
}
