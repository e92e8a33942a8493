#pragma once

#include <boost/asio/steady_timer.hpp>

#include "../../support/weft_io.hpp"
#include "config.hpp"

namespace hybrid_mix {

// Sleeps by Asio's timer, as the rows of Asio do, so that the rows differ in the scheduler alone.
class weft_client_stream : public bench::weft_stream {
 public:
  weft_client_stream(weft::hybrid_scheduler& scheduler, int descriptor)
      : weft_stream(scheduler, descriptor), timer_(weft::io_executor(scheduler)) {}

  auto sleep_until(clock::time_point when) {
    timer_.expires_at(when);
    return timer_.async_wait(weft::use_task);
  }

 private:
  boost::asio::steady_timer timer_;
};

// The scheduler as it is: one I/O thread, and a CPU lane of that class. On epoll, which serves
// Asio's objects on that thread.
class weft_hybrid {
 public:
  weft_hybrid(int threads, weft::cpu_class cpu_class)
      : scheduler_({.cpu_workers = static_cast<unsigned>(threads),
                    .cpu_class = cpu_class,
                    .engine = weft::io_engine::epoll}) {}

  void start_client(int socket, const schedule& when, std::size_t index, journal& into) {
    clients_.push_back(scheduler_.spawn_io(run_client(socket, when, index, into)));
  }

  template <class F>
  void spawn_cpu(F f) {
    scheduler_.spawn_cpu(std::move(f));
  }

  void finish_io() {
    for (auto& client : clients_) client.get();
  }

 private:
  // Makes the stream on the thread that uses it.
  weft::task<> run_client(int socket, schedule when, std::size_t index, journal& into) {
    co_await send_requests<weft::task<>>(weft_client_stream(scheduler_, socket), when, index, into);
  }

  weft::hybrid_scheduler scheduler_;
  std::vector<weft::spawned<void>> clients_;
};

inline int measure_weft(int argc, char** argv, weft::cpu_class cpu_class) {
  const auto options = bench::parse(argc, argv);
  const bench::echo_process server;
  weft_hybrid runtime(options.threads, cpu_class);
  measure(options, server, runtime);
  return 0;
}

}  // namespace hybrid_mix
