#pragma once

namespace bench {

// An OpenMP team in which one thread runs the program and the others run its tasks.
class openmp_runtime {
 public:
  explicit openmp_runtime(int threads) : threads_(threads) {}

  template <class F>
  void run(F&& f) {
#pragma omp parallel num_threads(threads_)
#pragma omp single
    f();
  }

  // Calls body(spawn) in the team; the barrier that ends `single` waits for every task it spawned.
  template <class Body>
  void scope(Body&& body) {
    run([&] { body([](auto task) { spawn(task); }); });
  }

  // Only inside `run`.
  template <class F>
  static void spawn(F f) {
#pragma omp task firstprivate(f)
    f();
  }

 private:
  int threads_;
};

}  // namespace bench
