#include "config.hpp"

#include "../support/weft.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const imbalance::problem problem(options);
  bench::weft_runtime runtime(options.threads);
  imbalance::measure(options, problem, [&] {
    runtime.scope([&](auto spawn) {
      for (const int jobs : problem.parts()) {
        spawn([&problem, jobs] {
          weft::task_group group;
          for (int i = 0; i < jobs; ++i) group.spawn([&problem] { problem.run_job(); });
          group.wait();
        });
      }
    });
  });
}
