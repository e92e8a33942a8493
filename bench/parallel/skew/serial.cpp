#include "config.hpp"

int main(int argc, char** argv) {
  skewed_loop::measure(bench::parse(argc, argv), [](int items, const skewed_loop::body& body) {
    for (int i = 0; i < items; ++i) body(i);
  });
}
