// A program that is stuck, and says where: one task holds a lock and waits for another task, which
// needs that lock.
//
// The whole report goes to the error stream; what is the same in every run is printed.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <mutex>
#include <set>
#include <string>

#include <weft/weft.hpp>

using namespace std::chrono_literals;

namespace {

// A service would log the report, and go on or abort() for a core file.
void report_and_leave(const weft::stall_report& report) {
  std::fputs(report.text().c_str(), stderr);
  static std::set<std::string> tasks;  // on_stall is called by one thread
  for (const weft::stall& s : report.stalls) tasks.insert(s.task);
  if (tasks.size() < 2) return;  // the other one has not been stuck for long enough yet
  for (const std::string& task : tasks) std::printf("%s holds a worker\n", task.c_str());
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace

int main() {
  // [watch]
  weft::trace trace;
  weft::pool pool({.workers = 2, .name = "catalogue"});
  const auto entry = trace.add("main", pool);
  trace.start();
  const weft::stall_detector detector(trace, {.limit = 50ms, .on_stall = report_and_leave});
  // [/watch]

  // [stuck]
  std::mutex catalogue;
  std::latch locked(1);
  weft::future<int> scan;
  {
    const weft::context_scope name(weft::context().part("scan"));
    scan = pool.submit([&] {
      locked.wait();
      const std::lock_guard lock(catalogue);  // never: index() has it
      return 42;
    });
  }
  const weft::context_scope name(weft::context().part("index"));
  pool.submit([&] {
        const std::lock_guard lock(catalogue);
        locked.count_down();
        return scan.get();  // never: the scan needs the lock
      })
      .get();
  // [/stuck]
}
