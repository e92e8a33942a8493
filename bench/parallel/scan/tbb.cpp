#include "config.hpp"

#include <functional>

#include <tbb/blocked_range.h>
#include <tbb/parallel_scan.h>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] {
    scan::measure(options, [](const std::int32_t* in, std::int32_t* out, std::size_t size) {
      tbb::parallel_scan(
          tbb::blocked_range<std::size_t>(0, size), std::int32_t{0},
          [=](const auto& range, std::int32_t sum, bool is_final) {
            for (std::size_t i = range.begin(); i < range.end(); ++i) {
              sum += in[i];
              if (is_final) out[i] = sum;
            }
            return sum;
          },
          std::plus<>{});
    });
  });
}
