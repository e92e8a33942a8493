#include "config.hpp"

int main(int argc, char** argv) {
  nested::measure(bench::parse(argc, argv), [](std::size_t rows, const loop::body& body) {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < nested::columns; ++i) body(row * nested::columns + i);
    }
  });
}
