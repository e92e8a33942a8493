// Work sharing: threads start with a static partition; one that has work and sees another without
// pushes half of what it has left to it. The giver does the work of balancing, before every job,
// where a stealer would have done it once.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "config.hpp"

class sharing_team {
 public:
  explicit sharing_team(const imbalance::problem& problem, int threads)
      : problem_(problem), dealt_(problem.dealt_to(threads)) {
    for (const int jobs : problem.parts()) jobs_left_ += jobs;
  }

  void run() {
    std::vector<std::jthread> threads;
    threads.reserve(dealt_.size());
    for (const int jobs : dealt_) threads.emplace_back([this, jobs] { work(jobs); });
  }

 private:
  void work(int mine) {
    do {
      for (; mine > 0; --mine) {
        if (mine > 1 && hungry_.load() > 0) mine -= give(mine / 2);
        problem_.run_job();
        finish_one();
      }
      mine = receive();
    } while (mine > 0);
  }

  // Offers `count` jobs to whoever waits; returns how many it handed over.
  int give(int count) {
    const std::lock_guard lock(mutex_);
    if (gift_ != 0 || hungry_.load() == 0) return 0;
    gift_ = count;
    hungry_.fetch_sub(1);
    changed_.notify_one();
    return count;
  }

  // Waits for a gift; 0 means that all jobs are done.
  int receive() {
    std::unique_lock lock(mutex_);
    hungry_.fetch_add(1);
    changed_.wait(lock, [this] { return gift_ != 0 || jobs_left_.load() == 0; });
    return std::exchange(gift_, 0);
  }

  void finish_one() {
    if (jobs_left_.fetch_sub(1) != 1) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  const imbalance::problem& problem_;
  const std::vector<int> dealt_;
  std::atomic<int> jobs_left_ =
      0;  // Written by every thread after a job; 0 ends the waiting threads.
  std::atomic<int> hungry_ =
      0;  // Waiting threads without a gift. Written under the mutex, read without it as a hint.
  std::mutex mutex_;  // Guards gift_ and the transitions of hungry_.
  std::condition_variable changed_;
  int gift_ = 0;  // Jobs given away and not yet taken.
};

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const imbalance::problem problem(options);
  imbalance::measure(options, problem, [&] { sharing_team(problem, options.threads).run(); });
}
