// Static partition: every thread gets its parts at the start and never looks at the others'.

#include <thread>

#include "config.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const imbalance::problem problem(options);
  imbalance::measure(options, problem, [&] {
    std::vector<std::jthread> threads;
    for (const int jobs : problem.dealt_to(options.threads)) {
      threads.emplace_back([&problem, jobs] {
        for (int i = 0; i < jobs; ++i) problem.run_job();
      });
    }
  });
}
