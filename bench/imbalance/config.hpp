#pragma once

#include <cstddef>
#include <vector>

#include "../support/measure.hpp"
#include "../support/options.hpp"
#include "../support/spin.hpp"

// Four parts of 100, 100, 200 and 350 ms of CPU work (a tenth in quick mode), each made of jobs of
// 100 us. Whoever deals the parts out and leaves it at that waits for the longest: 550 ms on two
// threads, 350 ms on four. The best possible makespan is 750 ms / threads. Every strategy starts
// from the same parts and runs the same jobs.
namespace imbalance {

inline constexpr double job_us = 100;

class problem {
 public:
  explicit problem(const bench::options& with) : job_rounds_(bench::rounds_for_us(with, job_us)) {
    for (const double ms : {100.0, 100.0, 200.0, 350.0}) {
      parts_.push_back(static_cast<int>(ms * 1e3 / job_us) / (with.quick ? 10 : 1));
    }
  }

  // Number of jobs in each part.
  [[nodiscard]] const std::vector<int>& parts() const noexcept { return parts_; }

  // Number of jobs per thread when the parts are dealt out in order: part p goes to thread p *
  // threads / 4.
  [[nodiscard]] std::vector<int> dealt_to(int threads) const {
    std::vector<int> jobs(static_cast<std::size_t>(threads), 0);
    for (std::size_t p = 0; p < parts_.size(); ++p)
      jobs[p * jobs.size() / parts_.size()] += parts_[p];
    return jobs;
  }

  void run_job() const noexcept { bench::spin_rounds(job_rounds_); }

 private:
  std::uint64_t job_rounds_;
  std::vector<int> parts_;
};

// `solve()` runs all jobs and returns when the last has ended.
template <class Solve>
void measure(const bench::options& with, const problem& jobs, Solve&& solve) {
  bench::measure_time(with, [&] { jobs.run_job(); }, solve);
}

}  // namespace imbalance
