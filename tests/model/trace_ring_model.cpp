// A thread writes events over old ones while another one reads: what is read is whole, in order,
// and was written.

#define WEFT_MODEL_THREADS 2
#include <model.hpp>

#include <telemetry/trace_ring.hpp>

namespace {

using namespace weft::telemetry;

// All words of event n say n + 1.
trace_words event(std::uint64_t n) { return {n + 1, n + 1, n + 1, n + 1}; }

struct reader_beside_the_writer : rl::test_suite<reader_beside_the_writer, 2> {
  static constexpr std::uint64_t events = 4;
  std::unique_ptr<trace_ring> ring;
  void before() { ring = std::make_unique<trace_ring>(2); }
  void after() {
    std::uint64_t first = 0;
    // The last one is there, whatever was read before.
    const auto left = ring->read(first);
    RL_ASSERT(!left.empty() && left.back() == event(events - 1));
    ring.reset();
  }
  void thread(unsigned i) {
    if (i == 0) {
      for (std::uint64_t n = 0; n < events; ++n) ring->push(event(n));
      return;
    }
    std::uint64_t first = 0;
    const auto seen = ring->read(first);
    RL_ASSERT(first <= events);
    for (std::size_t k = 0; k < seen.size(); ++k) {
      // They end with the one before `first`.
      RL_ASSERT(seen[k] == event(first - seen.size() + k));
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<reader_beside_the_writer>("trace ring: read while it is written");
  return run.exit_code();
}
