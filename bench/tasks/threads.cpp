// A thread for every task. They overlap on the cores, so a duration is the CPU time of the thread,
// not wall time.

#include <system_error>
#include <thread>

#include "config.hpp"

int main(int argc, char** argv) try {
  const auto options = bench::parse(argc, argv);
  const auto rounds = bench::rounds_for_us(options, tasks::task_us);
  std::vector<std::int64_t> durations_ns(tasks::count(options));
  std::vector<std::jthread> threads;
  threads.reserve(durations_ns.size());
  const auto begin = bench::now_ns();
  for (auto& duration_ns : durations_ns) {
    threads.emplace_back([&duration_ns, rounds] {
      const auto started = bench::thread_cpu_ns();
      bench::spin_rounds(rounds);
      duration_ns = bench::thread_cpu_ns() - started;
    });
  }
  for (auto& thread : threads) thread.join();
  tasks::emit_utilisation(options, durations_ns, bench::now_ns() - begin);
} catch (const std::system_error&) {
  bench::skip("the system does not allow this many threads");
}
