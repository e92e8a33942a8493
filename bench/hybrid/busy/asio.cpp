#include "config.hpp"

#include "../../support/asio.hpp"

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  bench::asio_pool runtime(options.threads);
  hybrid_busy::measure(options, [&](int count, auto instance) {
    bench::countdown ended(count);
    for (int i = 0; i < count; ++i) {
      runtime.spawn([&ended, instance] {
        instance();
        ended.arrive();
      });
    }
    ended.wait();
  });
}
