#pragma once

#include <weft/io/hybrid.hpp>
#include <weft/io/socket.hpp>

#include "config.hpp"

namespace hybrid_echo {

// A socket of Weft's, on the I/O thread that makes it.
class weft_socket {
 public:
  weft_socket(weft::hybrid_scheduler& scheduler, int socket)
      : stream_(weft::io::tcp_stream::adopt(scheduler, socket)) {}
  auto read_some(std::span<char> into) { return stream_.read_some(std::as_writable_bytes(into)); }
  auto write(std::span<const char> from) { return stream_.write_all(std::as_bytes(from)); }

 private:
  weft::io::tcp_stream stream_;
};

// The scheduler deals tasks out to its I/O threads in turn. With two of them, servers that are
// spawned in this order end up where server_thread() says.
inline std::size_t kth_server(std::size_t k) {
  return (k & ~std::size_t{3}) | (k & 1) << 1 | (k >> 1 & 1);
}

// Streams are made on the thread that uses them.
template <class Stream>
weft::task<> serve_socket(weft::hybrid_scheduler& scheduler, int socket) {
  co_await serve<weft::task<>>(Stream(scheduler, socket));
}
template <class Stream>
weft::task<> request_on(weft::hybrid_scheduler& scheduler, int socket,
                        std::span<double> round_trips_ms) {
  co_await request<weft::task<>>(Stream(scheduler, socket), round_trips_ms);
}

template <class Stream>
void measure_weft(const bench::options& with, weft::io_engine engine) {
  measure(with, [&](const std::vector<bench::connection>& pairs,
                    const std::vector<std::span<double>>& round_trips_ms) {
    weft::hybrid_options options;
    options.cpu_workers = 1;
    options.io_threads = static_cast<unsigned>(with.threads);
    options.engine = engine;
    weft::hybrid_scheduler scheduler(options);
    std::vector<weft::spawned<void>> ends;
    for (std::size_t k = 0; k < pairs.size(); ++k)
      ends.push_back(
          scheduler.spawn_io(serve_socket<Stream>(scheduler, pairs[kth_server(k)].server)));
    for (std::size_t i = 0; i < pairs.size(); ++i)
      ends.push_back(
          scheduler.spawn_io(request_on<Stream>(scheduler, pairs[i].client, round_trips_ms[i])));
    for (auto& end : ends) end.get();
  });
}

}  // namespace hybrid_echo
