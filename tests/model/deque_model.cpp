// The deque with one owner and two thieves: every job is taken exactly once, whoever publishes,
// steals, seizes and takes back.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>

#include <core/deque.cpp>

namespace {

using namespace weft::detail;

constexpr int most_jobs = 6;

// Jobs are numbers; what is behind a job is written before the push and read by who took it.
struct deque_suite_base {
  std::unique_ptr<deque> queue;
  job jobs[most_jobs] = {};
  rl::var<int> payload[most_jobs];
  rl::var<int> taken[most_jobs];
  int pushed = 0;

  void set_up(std::int64_t capacity, bool fenced = false) {
    queue = std::make_unique<deque>(capacity, fenced);
    for (auto& t : taken) t($) = 0;
    for (auto& p : payload) p($) = 0;
  }
  void tear_down() {
    for (int i = 0; i < pushed; ++i) RL_ASSERT(taken[i]($) == 1);
    queue.reset();
  }

  deque_owner owner() { return deque_owner(*queue); }
  deque_thief thief() { return deque_thief(*queue); }

  std::int64_t push(bool batchable = false) {
    payload[pushed]($) = 1;
    job& j = jobs[pushed++];
    return owner().push(batchable ? job_ref::batchable(j) : job_ref::single(j));
  }
  void take(job_ref ref) {
    const auto i = ref.get() - jobs;
    RL_ASSERT(payload[i]($) == 1);
    taken[i]($) = taken[i]($) + 1;
  }
  bool pop() {
    const job_ref ref = owner().pop();
    if (ref) take(ref);
    return static_cast<bool>(ref);
  }
  void steal() {
    const steal_result r = thief().steal();
    if (r.status == steal_status::stolen) take(r.job);
  }
};

// The smallest ring, so that slots are reused while thieves look at them.
struct pop_against_thieves : deque_suite_base, rl::test_suite<pop_against_thieves, 3> {
  void before() { set_up(2); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      push();
      push();
      owner().publish_all();
      pop();
      push();
      owner().publish_some();
      while (pop()) {
      }
    } else {
      steal();
      steal();
    }
  }
};

struct take_back_against_seizure : deque_suite_base, rl::test_suite<take_back_against_seizure, 3> {
  void before() { set_up(4); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      const auto a = push();
      const auto b = push();
      if (owner().try_take_back(b)) {
        take(job_ref::single(jobs[1]));
      } else {
        pop();
      }
      if (owner().try_take_back(a)) {
        take(job_ref::single(jobs[0]));
      } else {
        while (pop()) {
        }
      }
    } else if (i == 1) {
      thief().seize();
      steal();
    } else {
      steal();
      steal();
    }
  }
};

struct two_seizures : deque_suite_base, rl::test_suite<two_seizures, 3> {
  void before() { set_up(4); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      push();
      const auto b = push();
      if (owner().try_take_back(b)) {
        take(job_ref::single(jobs[1]));
        push();
      }
      while (pop()) {
      }
    } else {
      thief().seize();
      steal();
    }
  }
};

// The first seizure is cancelled by the owner, and its thief wakes up when a second one is under
// way.
struct late_seizure : deque_suite_base, rl::test_suite<late_seizure, 3> {
  void before() {
    set_up(4);
    push();
    push();
    push();
  }
  void after() {
    while (pop()) {
    }
    tear_down();
  }
  void thread(unsigned i) {
    if (i == 0) {
      pop();
      pop();
      push();
    } else {
      thief().seize();
      steal();
      steal();
    }
  }
};

// From two slots to four while thieves read the old ones.
struct growth : deque_suite_base, rl::test_suite<growth, 3> {
  void before() { set_up(2); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      push();
      push();
      owner().publish_all();
      push();
      push();
      owner().publish_all();
      while (pop()) {
      }
    } else {
      steal();
      steal();
    }
  }
};

// Half of the batchable jobs move to the thief's own deque; its owner end is not shared here.
struct steal_half : deque_suite_base, rl::test_suite<steal_half, 3> {
  std::unique_ptr<deque> loot;
  void before() {
    set_up(4);
    loot = std::make_unique<deque>(4);
  }
  void after() {
    loot.reset();
    tear_down();
  }
  void thread(unsigned i) {
    if (i == 0) {
      push(true);
      push(true);
      push(true);
      push(true);
      owner().publish_all();
      while (pop()) {
      }
    } else if (i == 1) {
      const steal_result r = thief().steal_batch(deque_owner(*loot));
      if (r.status == steal_status::stolen) {
        take(r.job);
        for (std::size_t n = 1; n < r.count; ++n) take(deque_owner(*loot).pop());
      }
    } else {
      steal();
    }
  }
};

// Without membarrier: every push is public, every pop fenced.
struct fenced_mode : deque_suite_base, rl::test_suite<fenced_mode, 3> {
  void before() { set_up(2, true); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) {
      push();
      owner().publish_some();
      push();
      owner().publish_some();
      pop();
      push();
      owner().publish_some();
      while (pop()) {
      }
    } else {
      steal();
      steal();
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<pop_against_thieves>("deque: pop against thieves");
  run.run<take_back_against_seizure>("deque: take back against seizure");
  run.run<two_seizures>("deque: two seizures at once");
  run.run<late_seizure>("deque: a seizure comes too late");
  run.run<growth>("deque: growth during steals");
  run.run<steal_half>("deque: steal half");
  run.run<fenced_mode>("deque: fenced mode");
  return run.exit_code();
}
