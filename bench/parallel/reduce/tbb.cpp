#include "config.hpp"

#include <functional>
#include <numeric>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  runtime.run([&] {
    reduce::measure(options, [](const std::int32_t* first, const std::int32_t* last) {
      return tbb::parallel_reduce(
          tbb::blocked_range<const std::int32_t*>(first, last), 0L,
          [](const auto& range, long sum) {
            return std::accumulate(range.begin(), range.end(), sum);
          },
          std::plus<>{});
    });
  });
}
