// Instances that end without the lock of their group, and who counts them: each end is counted
// once, somebody sees that it was the last, and who walks back from the newest finds all.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>

#include <weft/flow/end_tally.hpp>

namespace {

constexpr std::size_t instances = 2;

// Written by whoever is left, read by whoever walks.
struct noted_index {
  rl::var<std::uint32_t> value;
  noted_index& operator=(std::uint32_t index) {
    value($) = index;
    return *this;
  }
};

struct node {
  noted_index left_before;
  rl::var<int> result;  // written by whoever ends, read by whoever counts
};

// As much of a group as counts.
struct tally_suite {
  std::unique_ptr<weft::flow::end_tally> tally;
  std::unique_ptr<node> nodes[instances];
  std::unique_ptr<weft::mutex> lock;
  std::size_t counted_left = 0;
  std::size_t counted = 0;
  bool is_sealed = false;
  int completed = 0;

  void set_up() {
    tally = std::make_unique<weft::flow::end_tally>();
    for (auto& n : nodes) {
      n = std::make_unique<node>();
      n->result($) = 0;
      n->left_before = 0;
    }
    lock = std::make_unique<weft::mutex>();
    counted_left = counted = 0;
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

  void count(std::size_t some) {
    counted += some;
    if (some > 0 && counted == instances && is_sealed) complete();
  }
  // Whoever joins reads all results.
  void complete() {
    ++completed;
    for (auto& n : nodes) RL_ASSERT(n->result($) == 1);
  }
  void count_left() {
    const std::size_t left = tally->left();
    count(left - std::exchange(counted_left, left));
  }
  // As many are on the way back from the newest as were left.
  void order() {
    std::size_t found = 0;
    for (std::uint32_t n = tally->newest(); n != 0; n = nodes[n - 1]->left_before.value($)) {
      RL_ASSERT(nodes[n - 1]->result($) == 1);
      RL_ASSERT(++found <= instances);
    }
    RL_ASSERT(found == tally->left());
  }

  void end(std::size_t index) {
    node& n = *nodes[index];
    n.result($) = 1;
    if (tally->leave(index, n.left_before)) return;
    const std::lock_guard guard(*lock);
    if (tally->leave_with_lock(index, n.left_before)) {
      count_left();
    } else {
      count(1);
    }
  }
  void seal() {
    const std::lock_guard guard(*lock);
    is_sealed = true;
    if (tally->is_closed()) {
      if (counted == instances) complete();
    } else if (tally->seal(instances) == 0) {
      if (counted == instances) {
        complete();
      } else {
        count_left();
      }
    }
  }
  void attend() {
    const std::lock_guard guard(*lock);
    tally->close();
    count_left();
    order();
  }
};

struct sealed_while_they_end : tally_suite, rl::test_suite<sealed_while_they_end, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < instances) return end(i);
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
    if (i < instances) return end(i);
    attend();
  }
};

struct attended_and_sealed : tally_suite, rl::test_suite<attended_and_sealed, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < instances) return end(i);
    attend();
    seal();
  }
};

struct sealed_and_attended : tally_suite, rl::test_suite<sealed_and_attended, 3> {
  void before() { set_up(); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < instances) return end(i);
    seal();
    attend();
  }
};

// Who just looks counts what is there, and changes nothing for the others.
struct looked_at : tally_suite, rl::test_suite<looked_at, 3> {
  void before() {
    set_up();
    seal();
  }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i < instances) return end(i);
    const std::lock_guard guard(*lock);
    count_left();
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
