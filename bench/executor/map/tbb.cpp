#include "config.hpp"

#include <tbb/parallel_pipeline.h>

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  const std::size_t look_ahead =
      executor_map::look_ahead_per_thread * static_cast<std::size_t>(options.threads);
  executor_map::measure(options, [&](std::size_t items, executor_map::body f) {
    executor_map::checksum sum;
    runtime.run([&] {
      std::size_t next = 0;
      const auto read = [&](tbb::flow_control& control) -> std::size_t {
        if (next == items) control.stop();
        return next == items ? 0 : next++;
      };
      tbb::parallel_pipeline(
          look_ahead,
          tbb::make_filter<void, std::size_t>(tbb::filter_mode::serial_in_order, read) &
              tbb::make_filter<std::size_t, std::uint64_t>(tbb::filter_mode::parallel, f) &
              tbb::make_filter<std::uint64_t, void>(tbb::filter_mode::serial_in_order,
                                                    [&](std::uint64_t r) { sum.add(r); }));
    });
    return sum.value();
  });
}
