// The injector with two producers and a taker, then with one producer and two takers: every job
// comes out once, in the order of its producer, and a zero size means empty.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>

#include <core/deque.cpp>
#include <core/injector.cpp>

namespace {

using namespace weft::detail;

constexpr int jobs_count = 4;

struct injector_suite_base {
  struct numbered : queued_job {
    rl::var<int> payload;
  };
  std::unique_ptr<injector> queue;
  std::unique_ptr<numbered[]> jobs;
  std::unique_ptr<deque> loot[2];
  rl::var<int> taken[jobs_count];
  int pushed = 0;

  void set_up() {
    queue = std::make_unique<injector>();
    jobs = std::make_unique<numbered[]>(jobs_count);
    for (auto& l : loot) l = std::make_unique<deque>(4);
    for (auto& t : taken) t($) = 0;
  }
  void tear_down() {
    while (queue->size() > 0) RL_ASSERT(!take(0, 0).empty());
    int all = 0;
    for (auto& t : taken) {
      RL_ASSERT(t($) <= 1);
      all += t($);
    }
    RL_ASSERT(all == pushed);
    RL_ASSERT(queue->size() == 0);
    for (auto& l : loot) l.reset();
    jobs.reset();
    queue.reset();
  }
  void push(int i) {
    jobs[i].payload($) = i;
    RL_ASSERT(queue->push(jobs[i]) == push_status::pushed);
  }
  int number_of(job_ref ref) {
    return static_cast<int>(static_cast<numbered*>(ref.get()) - jobs.get());
  }
  void note(int i) {
    RL_ASSERT(jobs[i].payload($) == i);
    taken[i]($) = taken[i]($) + 1;
  }
  // Takes what there is, at most `extra` + 1; returns the numbers in the order of execution.
  std::vector<int> take(int taker, std::size_t extra) {
    std::vector<int> numbers;
    const steal_result r = queue->take(deque_owner(*loot[taker]), extra);
    if (r.status != steal_status::stolen) return numbers;
    numbers.push_back(number_of(r.job));
    for (std::size_t n = 1; n < r.count; ++n) {
      numbers.push_back(number_of(deque_owner(*loot[taker]).pop()));
    }
    for (const int n : numbers) note(n);
    return numbers;
  }
  // A few tries, without waiting: loops that spin would make the exhaustive search endless.
  void take_some(int taker, std::size_t extra) {
    int newest[2] = {-1, -1};  // of each producer
    for (int tries = 0; tries < 2 - taker; ++tries) {
      for (const int n : take(taker, extra)) {
        RL_ASSERT(newest[n / 2] < n);
        newest[n / 2] = n;
      }
    }
  }
};

struct two_producers : injector_suite_base, rl::test_suite<two_producers, 3> {
  void before() {
    set_up();
    pushed = 3;
  }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < 2) {
      push(static_cast<int>(i) * 2);
      if (i == 0) push(1);
    } else {
      take_some(0, 1);
    }
  }
};

struct two_takers : injector_suite_base, rl::test_suite<two_takers, 3> {
  void before() {
    set_up();
    pushed = 2;
  }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      push(0);
      push(1);
    } else {
      take_some(static_cast<int>(i) - 1, 1);
    }
  }
};

// The taker has looked at the size before these pushes, so only the links tell it of them.
struct batch_against_pushes : injector_suite_base, rl::test_suite<batch_against_pushes, 3> {
  void before() {
    set_up();
    pushed = 3;
    push(0);
  }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      push(1);
      push(2);
    } else if (i == 1) {
      take(0, 1);
    }
  }
};

// A push that close() did not refuse is one that the size shows.
struct push_against_close : injector_suite_base, rl::test_suite<push_against_close, 3> {
  weft::atomic<int> accepted{0};
  void before() { set_up(); }
  void after() {
    RL_ASSERT(static_cast<int>(queue->size()) == accepted.load());
    RL_ASSERT(queue->push(jobs[3]) == push_status::closed);
    pushed = accepted.load();
    tear_down();
  }
  void thread(unsigned i) {
    if (i == 2) {
      queue->close();
      return;
    }
    jobs[i].payload($) = static_cast<int>(i);
    if (queue->push(jobs[i]) == push_status::pushed) accepted.fetch_add(1);
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<two_producers>("injector: two producers, one taker");
  run.run<two_takers>("injector: one producer, two takers");
  run.run<batch_against_pushes>("injector: a batch against pushes");
  run.run<push_against_close>("injector: push against close");
  return run.exit_code();
}
