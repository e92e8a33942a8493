// A new thread for every submission: what a sleeping pool has to beat.

#include "config.hpp"

struct thread_per_task {
  template <class F>
  void spawn(F f) {
    std::thread(f).detach();
  }
};

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  thread_per_task runtime;
  wake::measure(options, runtime);
}
