#include "config.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const imbalance::problem problem(options);
  imbalance::measure(options, problem, [&] {
    for (const int jobs : problem.parts()) {
      for (int i = 0; i < jobs; ++i) problem.run_job();
    }
  });
}
