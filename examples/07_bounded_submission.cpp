// A queue with a limit: what happens to a caller who is faster than the pool.

#include <cstdio>
#include <latch>
#include <thread>

#include <weft/weft.hpp>

namespace {

// A pool whose only worker is busy until release() is called, with room for two jobs that wait.
class busy_pool {
 public:
  explicit busy_pool(weft::when_full overflow)
      : pool({.workers = 1, .max_pending = 2, .overflow = overflow}) {
    std::latch inside(1);
    pool.spawn([this, &inside] {
      inside.count_down();
      release_.wait();
    });
    inside.wait();
    for (int i = 0; i < 2; ++i) pool.spawn([] {});
  }
  void release() { release_.count_down(); }

 private:
  std::latch release_{1};  // the pool goes first

 public:
  weft::pool pool;
};

}  // namespace

int main() {
  {
    busy_pool full(weft::when_full::reject);
    try {
      full.pool.spawn([] {});
    } catch (const weft::queue_full& e) {
      std::printf("%s\n", e.what());
    }
    full.release();
  }
  {
    busy_pool full(weft::when_full::run_in_caller);
    const auto here = std::this_thread::get_id();
    full.pool.spawn([here] {
      std::printf("run in the caller: %s\n", std::this_thread::get_id() == here ? "yes" : "no");
    });
    full.release();
  }
  {
    busy_pool full(weft::when_full::block);
    std::thread caller([&full] {
      full.pool.spawn([] {});  // waits here until the worker has taken a job
      std::printf("the blocked caller got through\n");
    });
    full.release();
    caller.join();
  }
  // The limit is for callers from outside. Jobs of the pool are never refused, because a pool that
  // waits for itself would stand still.
  weft::pool pool({.workers = 1, .max_pending = 2, .overflow = weft::when_full::reject});
  weft::task_group group(pool);
  int ran = 0;
  group.spawn([&] {
    for (int i = 0; i < 100; ++i) group.spawn([&ran] { ++ran; });
  });
  group.wait();
  std::printf("a job spawned %d jobs through a queue of 2\n", ran);
}
