// Central queue: a pool of threads around one std::deque under one mutex.

#include "config.hpp"

#include "../support/central_pool.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const imbalance::problem problem(options);
  imbalance::measure(options, problem, [&] {
    bench::central_pool pool(options.threads);
    for (const int jobs : problem.parts()) {
      for (int i = 0; i < jobs; ++i) pool.submit([&problem] { problem.run_job(); });
    }
  });
}
