// A thread for every job.

#include <system_error>
#include <thread>

#include "config.hpp"

int main(int argc, char** argv) try {
  const auto options = bench::parse(argc, argv);
  const imbalance::problem problem(options);
  imbalance::measure(options, problem, [&] {
    std::vector<std::jthread> threads;
    for (const int jobs : problem.parts()) {
      for (int i = 0; i < jobs; ++i) threads.emplace_back([&problem] { problem.run_job(); });
    }
  });
} catch (const std::system_error&) {
  bench::skip("the system does not allow this many threads");
}
