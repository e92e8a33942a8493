#include "config.hpp"

#include "../../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::tbb_runtime runtime(options.threads);
  bench::laps laps(options);
  runtime.run([&] {
    while (laps.next()) {
      tbb::task_group group;
      for (std::size_t i = 0; i < hybrid_spawn_join::instances; ++i) group.run([] {});
      group.wait();
    }
  });
  hybrid_spawn_join::report(laps);
}
