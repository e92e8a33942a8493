// An echo server and its clients in one program: a task for each connection, on Asio's sockets.

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <weft/io/asio.hpp>

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// [readme]
weft::task<> serve(tcp::socket client) {
  std::array<char, 1024> buffer{};
  try {
    for (;;) {
      const std::size_t n = co_await client.async_read_some(asio::buffer(buffer), weft::use_task);
      co_await asio::async_write(client, asio::buffer(buffer, n), weft::use_task);
    }
  } catch (const boost::system::system_error&) {
    co_return;  // the client has gone
  }
}

weft::task<> listen(weft::hybrid_scheduler& hs, tcp::acceptor& acceptor) {
  for (;;) hs.spawn(serve(co_await acceptor.async_accept(weft::use_task)), {.name = "serve"});
}
// [/readme]

weft::task<std::string> ask(weft::hybrid_scheduler& hs, tcp::endpoint where, std::string text) {
  tcp::socket socket(weft::io_executor(hs));
  co_await socket.async_connect(where, weft::use_task);
  co_await asio::async_write(socket, asio::buffer(text), weft::use_task);
  std::string reply(text.size(), ' ');
  co_await asio::async_read(socket, asio::buffer(reply), weft::use_task);
  co_return reply;
}

}  // namespace

int main() {
  weft::hybrid_scheduler hs;
  tcp::acceptor acceptor(weft::io_executor(hs), {asio::ip::address_v4::loopback(), 0});
  auto listener = hs.spawn(listen(hs, acceptor), {.name = "listen"});

  std::vector<weft::spawned<std::string>> replies;
  replies.reserve(100);
  for (int i = 0; i < 100; ++i) {
    replies.push_back(hs.spawn(ask(hs, acceptor.local_endpoint(), "hello " + std::to_string(i))));
  }
  int right = 0;
  for (std::size_t i = 0; i < 100; ++i)
    right += replies[i].get() == "hello " + std::to_string(i) ? 1 : 0;
  std::printf("%d of 100 clients got their words back\n", right);

  // The listener waits for clients for ever, until it is asked to stop.
  const auto report = hs.shutdown({.let_run = std::chrono::milliseconds(0)});
  std::printf("shut down, %zu tasks left\n", report.unfinished.size());
}
