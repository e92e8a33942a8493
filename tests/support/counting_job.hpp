#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include <weft/core/job.hpp>

namespace weft::test {

// A job without a pool, for tests of the queues: it knows its number and how often it was taken.
struct counting_job : detail::queued_job {
  int number = 0;
  std::atomic<int> taken{0};

  static counting_job& of(detail::job_ref ref) { return *static_cast<counting_job*>(ref.get()); }
  static int number_of(detail::job_ref ref) { return ref ? of(ref).number : -1; }
};

inline std::vector<counting_job> make_jobs(int count) {
  std::vector<counting_job> jobs(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    jobs[static_cast<std::size_t>(i)].number = i;
    jobs[static_cast<std::size_t>(i)].call = nullptr;
  }
  return jobs;
}

}  // namespace weft::test
