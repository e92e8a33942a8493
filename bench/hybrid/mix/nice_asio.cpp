// The threads that compute have niceness 19.

#include "asio.hpp"

int main(int argc, char** argv) {
  return hybrid_mix::measure_separate(argc, argv, [] {
    if (setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19) != 0)
      bench::skip("niceness 19 is not allowed");
  });
}
