// Instances that end without the lock of their group, and who collects them: each end is counted
// once, and somebody sees that it was the last.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>

#include <weft/flow/end_tally.hpp>

namespace {

constexpr std::size_t instances = 2;

struct node {
  node* next_ended = nullptr;
  rl::var<int> result;  // written by whoever ends, read by whoever counts
};

// As much of a group as counts.
struct tally_suite {
  std::unique_ptr<weft::flow::end_tally<node>> tally;
  std::unique_ptr<node> nodes[instances];
  std::unique_ptr<weft::mutex> lock;
  std::size_t collected = 0;
  std::size_t counted = 0;
  bool is_sealed = false;
  int completed = 0;

  void set_up() {
    tally = std::make_unique<weft::flow::end_tally<node>>();
    for (auto& n : nodes) {
      n = std::make_unique<node>();
      n->result($) = 0;
    }
    lock = std::make_unique<weft::mutex>();
    collected = counted = 0;
    is_sealed = false;
    completed = 0;
  }
  void tear_down() {
    RL_ASSERT(counted == instances);
    RL_ASSERT(completed == 1);
    tally.reset();
    for (auto& n : nodes) n.reset();
    lock.reset();
  }

  void count(node& n) {
    RL_ASSERT(n.result($) == 1);
    n.result($) = 2;
    if (++counted == instances && is_sealed) ++completed;
  }
  void collect(std::size_t some) {
    for (;;) {
      for (node* n = tally->take(); n != nullptr; ++collected) {
        count(*std::exchange(n, std::exchange(n->next_ended, nullptr)));
      }
      if (collected >= some) return;
      weft::yield_thread();
    }
  }

  void end(node& n) {
    n.result($) = 1;
    if (tally->leave(n)) return;
    const std::lock_guard guard(*lock);
    collect(tally->left());
    count(n);
  }
  void seal() {
    const std::lock_guard guard(*lock);
    is_sealed = true;
    if (tally->is_closed()) {
      if (counted == instances) ++completed;
    } else if (tally->seal(instances) == 0) {
      collect(instances);
    }
  }
  void attend() {
    const std::lock_guard guard(*lock);
    tally->close();
    collect(tally->left());
  }
};

struct sealed_while_they_end : tally_suite, rl::test_suite<sealed_while_they_end, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < instances) return end(*nodes[i]);
    seal();
  }
};

struct attended_while_they_end : tally_suite, rl::test_suite<attended_while_they_end, 3> {
  void before() {
    set_up();
    seal();
  }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < instances) return end(*nodes[i]);
    attend();
  }
};

struct attended_and_sealed : tally_suite, rl::test_suite<attended_and_sealed, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < instances) return end(*nodes[i]);
    attend();
    seal();
  }
};

struct sealed_and_attended : tally_suite, rl::test_suite<sealed_and_attended, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < instances) return end(*nodes[i]);
    seal();
    attend();
  }
};

// Who just looks takes what is there, and changes nothing for the others.
struct looked_at : tally_suite, rl::test_suite<looked_at, 3> {
  void before() {
    set_up();
    seal();
  }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < instances) return end(*nodes[i]);
    const std::lock_guard guard(*lock);
    collect(0);
    RL_ASSERT(completed == 0 || counted == instances);
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<sealed_while_they_end>("ends: sealed while they end");
  run.run<attended_while_they_end>("ends: attended to while they end");
  run.run<attended_and_sealed>("ends: attended to, then sealed");
  run.run<sealed_and_attended>("ends: sealed, then attended to");
  run.run<looked_at>("ends: looked at");
  return run.exit_code();
}
