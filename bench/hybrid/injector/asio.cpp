#include "config.hpp"

#include "../../support/asio.hpp"

namespace {

struct runtime_of_pool : bench::asio_pool {
  using asio_pool::asio_pool;
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
