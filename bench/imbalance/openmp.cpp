#include "config.hpp"

#include "../support/openmp.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const imbalance::problem problem(options);
  bench::openmp_runtime runtime(options.threads);
  imbalance::measure(options, problem, [&] {
    runtime.scope([&](auto spawn) {
      for (const int jobs : problem.parts()) {
        spawn([&problem, jobs] {
          for (int i = 0; i < jobs; ++i) {
            bench::openmp_runtime::spawn([&problem] { problem.run_job(); });
          }
        });
      }
    });
  });
}
