// The threads that compute are in the class SCHED_IDLE.

#include "asio.hpp"

int main(int argc, char** argv) {
  return hybrid_mix::measure_separate(argc, argv, [] {
    const sched_param none{};
    if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) bench::skip("SCHED_IDLE is not allowed");
  });
}
