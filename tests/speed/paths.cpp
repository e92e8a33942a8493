// The hot paths of the core, each N times, for tools/speed_guard to count instructions.
//
//   speed_paths PATH N
//
// Everything runs on one thread, so that the counts are the same every time: a pool of one worker
// whose seat this thread borrows.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <weft/weft.hpp>

namespace {

using namespace weft::detail;

// A call the compiler cannot look into.
[[gnu::noinline]] long leaf(long n) {
  asm volatile("" : "+r"(n));
  return n;
}

void join_path(long count) {
  for (long i = 0; i < count; ++i) {
    auto [a, b] = weft::join([i] { return leaf(i); }, [i] { return leaf(i + 1); });
    asm volatile("" ::"r"(a), "r"(b));
  }
}

// Spawns in rounds and runs them: the spawn, the pop and the execution of an empty job.
void spawn_path(long count) {
  weft::task_group group;
  for (long i = 0; i < count; ++i) {
    group.spawn([] {});
    if (i % 32 == 31) group.wait();
  }
  group.wait();
}

void pop_path(long count) {
  deque queue;
  deque_owner owner(queue);
  job j{};
  for (long i = 0; i < count; ++i) {
    owner.push(job_ref::single(j));
    if (!owner.pop()) std::abort();
  }
}

void steal_path(long count) {
  deque queue;
  deque_owner owner(queue);
  deque_thief thief(queue);
  job j{};
  for (long i = 0; i < count; ++i) {
    owner.push(job_ref::single(j));
    owner.publish_some();
    if (thief.steal().status != steal_status::stolen) std::abort();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: speed_paths join|spawn|pop|steal N\n");
    return 2;
  }
  const std::string path = argv[1];
  const long count = std::atol(argv[2]);
  if (!asymmetric_fences_work()) {
    std::fprintf(stderr,
                 "speed_paths: no membarrier here, the counts would be of the fenced mode\n");
    return 3;
  }
  weft::pool pool({.workers = 1});
  pool.run([&] {
    if (path == "join") join_path(count);
    if (path == "spawn") spawn_path(count);
    if (path == "pop") pop_path(count);
    if (path == "steal") steal_path(count);
  });
}
