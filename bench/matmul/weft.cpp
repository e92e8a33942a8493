#include "config.hpp"

#include "../support/weft.hpp"

static void multiply(matmul::product p) {
  if (p.is_leaf()) return matmul::multiply_leaf(p);
  for (const int phase : {0, 1}) {
    const auto row = [&](int r) {
      weft::join([&] { multiply(p.part(phase, r, 0)); }, [&] { multiply(p.part(phase, r, 1)); });
    };
    weft::join([&] { row(0); }, [&] { row(1); });
  }
}

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::weft_runtime runtime(options.threads);
  matmul::measure(options, [&](matmul::product p) { runtime.run([=] { multiply(p); }); });
}
