#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "../../support/asio.hpp"
#include "../../support/rendezvous.hpp"
#include "config.hpp"

namespace hybrid_mix {

namespace asio = bench::asio;

class asio_client_stream : public bench::asio_stream {
 public:
  asio_client_stream(asio::io_context& context, int descriptor)
      : asio_stream(context, descriptor), timer_(context) {}

  auto sleep_until(clock::time_point when) {
    timer_.expires_at(when);
    return timer_.async_wait(asio::use_awaitable);
  }

 private:
  asio::steady_timer timer_;
};

inline void start_asio_client(asio::io_context& context, int socket, const schedule& when,
                              std::size_t index, journal& into) {
  asio::co_spawn(
      context,
      send_requests<asio::awaitable<void>>(asio_client_stream(context, socket), when, index, into),
      asio::detached);
}

// What one builds by hand: a thread for the I/O and a pool for the computing.
class asio_separate {
 public:
  // `prepare` is called once by every thread of the pool.
  template <class Prepare>
  asio_separate(int threads, Prepare prepare) : pool_(threads) {
    bench::rendezvous everybody(threads);
    bench::countdown prepared(threads);
    for (int i = 0; i < threads; ++i) {
      pool_.spawn([&] {
        prepare();
        everybody.arrive_and_wait();
        prepared.arrive();
      });
    }
    prepared.wait();
    io_thread_ = std::jthread([this] { context_.run(); });
  }

  void start_client(int socket, const schedule& when, std::size_t index, journal& into) {
    start_asio_client(context_, socket, when, index, into);
  }

  template <class F>
  void spawn_cpu(F f) {
    pool_.spawn(std::move(f));
  }

  void finish_io() {
    work_.reset();
    io_thread_.join();
  }

 private:
  bench::asio_pool pool_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ =
      asio::make_work_guard(context_);
  std::jthread io_thread_;
};

template <class Prepare>
int measure_separate(int argc, char** argv, Prepare prepare) {
  const auto options = bench::parse(argc, argv);
  const bench::echo_process server;
  asio_separate runtime(options.threads, prepare);
  measure(options, server, runtime);
  return 0;
}

}  // namespace hybrid_mix
