// A program that is slower than it should be, and what a trace shows of it: tasks that sleep keep
// the workers from computing.
//
//   19_slow DIRECTORY    writes slow.trace.json and quick.trace.json there, for ui.perfetto.dev

#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

using namespace std::chrono_literals;

namespace {

// Sleeps, as a call does that waits for a disk or another program.
void fetch() { std::this_thread::sleep_for(50ms); }

long crunch() {
  long sum = 0;
  for (int i = 0; i < 100'000; ++i) sum += i % 7;
  return sum;
}

// The names of what the scheduler says has slept on a worker.
class sleepers {
 public:
  void add(const weft::blocked_task& t) {
    const std::lock_guard lock(mutex_);
    names_.insert(t.name);
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const std::string& name : names_) all += name + " ";
    return all.empty() ? "nobody " : all;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
};

enum class fetches_in { cpu_lane, blocking_lane };

void serve(const char* what, fetches_in lane, const std::string& file) {
  sleepers asleep;
  // [trace]
  weft::trace trace;
  weft::hybrid_scheduler scheduler(
      {.cpu_workers = 1, .on_blocked = [&](const weft::blocked_task& t) { asleep.add(t); }});
  const auto entry = trace.add("server", scheduler);
  trace.start();
  // [/trace]

  std::vector<weft::spawned<void>> fetched;
  std::vector<weft::spawned<long>> crunched;
  for (int i = 0; i < 4; ++i) {
    fetched.push_back(lane == fetches_in::cpu_lane
                          ? scheduler.spawn_cpu(fetch, {.name = "fetch"})
                          : scheduler.spawn_blocking(fetch, {.name = "fetch"}));
    for (int k = 0; k < 10; ++k) {
      crunched.push_back(scheduler.spawn_cpu(crunch, {.name = "crunch"}));
    }
  }
  for (auto& f : fetched) f.get();
  for (auto& c : crunched) c.get();

  // [write]
  trace.stop();
  if (!file.empty()) trace.write(file);
  // [/write]
  std::printf("%s: %sslept on a worker\n", what, asleep.text().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "";
  const auto file = [&](const char* name) {
    return directory.empty() ? std::string() : directory + "/" + name;
  };
  serve("slow", fetches_in::cpu_lane, file("slow.trace.json"));
  serve("quick", fetches_in::blocking_lane, file("quick.trace.json"));
}
