// One context for everything, as one would begin.

#include "asio.hpp"

namespace {

class asio_shared {
 public:
  explicit asio_shared(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { context_.run(); });
  }

  void start_client(int socket, const hybrid_mix::schedule& when, std::size_t index,
                    hybrid_mix::journal& into) {
    hybrid_mix::start_asio_client(context_, socket, when, index, into);
  }

  template <class F>
  void spawn_cpu(F f) {
    bench::asio::post(context_, std::move(f));
  }

  void finish_io() {
    work_.reset();
    threads_.clear();
  }

 private:
  bench::asio::io_context context_;
  bench::asio::executor_work_guard<bench::asio::io_context::executor_type> work_ =
      bench::asio::make_work_guard(context_);
  std::vector<std::jthread> threads_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const bench::echo_process server;
  asio_shared runtime(options.threads);
  hybrid_mix::measure(options, server, runtime);
}
