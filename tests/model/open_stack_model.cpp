// What a thread does at the moment, seen by another one: never half of one job and half of the
// next.

#define WEFT_MODEL_THREADS 2
#include <model.hpp>

#include <telemetry/open_stack.hpp>

namespace {

using namespace weft::telemetry;

struct reader_beside_the_thread : rl::test_suite<reader_beside_the_thread, 2> {
  std::unique_ptr<open_stack<2>> stack;
  void before() { stack = std::make_unique<open_stack<2>>(); }
  void after() { stack.reset(); }
  void thread(unsigned i) {
    if (i == 0) {
      stack->push({1, 1, 1});
      stack->pop();
      stack->push({2, 2, 2});
      stack->push({3, 3, 3});
      stack->pop();
      return;
    }
    const auto seen = stack->read();
    for (std::size_t d = 0; d < seen.size(); ++d) {
      RL_ASSERT(seen[d][0] == seen[d][1] && seen[d][1] == seen[d][2]);
      RL_ASSERT(d == 0 ? seen[d][0] == 1 || seen[d][0] == 2 : seen[d][0] == 3);
      RL_ASSERT(d == 0 || seen[0][0] == 2);
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<reader_beside_the_thread>("open work: read while it changes");
  return run.exit_code();
}
