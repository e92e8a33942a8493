#include "config.hpp"

#include "../../support/weft.hpp"

namespace {

struct runtime_of_pool : bench::weft_runtime {
  using weft_runtime::weft_runtime;
  // Into the queue of the worker that calls it.
  template <class F>
  void respawn(F f) {
    spawn(std::move(f));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  runtime_of_pool runtime(options.threads);
  hybrid_injector::measure(options, runtime);
}
