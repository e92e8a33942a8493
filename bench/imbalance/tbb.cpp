#include "config.hpp"

#include "../support/tbb.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const imbalance::problem problem(options);
  bench::tbb_runtime runtime(options.threads);
  imbalance::measure(options, problem, [&] {
    runtime.scope([&](auto spawn) {
      for (const int jobs : problem.parts()) {
        spawn([&problem, jobs] {
          tbb::task_group group;
          for (int i = 0; i < jobs; ++i) group.run([&problem] { problem.run_job(); });
          group.wait();
        });
      }
    });
  });
}
