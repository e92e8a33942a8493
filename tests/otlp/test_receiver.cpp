#include <otlp/test_receiver.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace weft::test {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

struct test_receiver::sockets {
  asio::io_context io;
  tcp::acceptor acceptor{io};
  tcp::socket connection{io};
};

test_receiver::test_receiver(script answers, mode m)
    : answers_(std::move(answers)), sockets_(std::make_unique<sockets>()) {
  const tcp::endpoint place(asio::ip::address_v4::loopback(), 0);
  sockets_->acceptor.open(place.protocol());
  sockets_->acceptor.bind(place);
  if (m == mode::listens) start();
}

void test_receiver::start() {
  sockets_->acceptor.listen();
  thread_ = std::thread([this] { serve(); });
}

test_receiver::~test_receiver() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    // Both make the calls of the thread return.
    ::shutdown(sockets_->acceptor.native_handle(), SHUT_RDWR);
    if (open_connection_ >= 0) ::shutdown(open_connection_, SHUT_RDWR);
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

std::string test_receiver::endpoint() const {
  return "http://127.0.0.1:" + std::to_string(sockets_->acceptor.local_endpoint().port());
}

std::vector<received_request> test_receiver::wait_for_requests(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return requests_.size() >= count; });
  return requests_;
}

std::vector<received_request> test_receiver::requests() {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::size_t test_receiver::connections() {
  const std::lock_guard lock(mutex_);
  return connections_;
}

void test_receiver::serve() {
  for (;;) {
    error_code error;
    sockets_->acceptor.accept(sockets_->connection, error);
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_) return;
      if (error) continue;
      ++connections_;
      open_connection_ = sockets_->connection.native_handle();
    }
    serve_connection();
    const std::lock_guard lock(mutex_);
    open_connection_ = -1;
    sockets_->connection.close(error);
  }
}

void test_receiver::serve_connection() {
  boost::beast::flat_buffer buffer;
  for (;;) {
    error_code error;
    http::request_parser<http::string_body> parser;
    parser.body_limit(std::numeric_limits<std::uint64_t>::max());
    http::read(sockets_->connection, buffer, parser, error);
    if (error) return;
    const auto request = parser.release();
    received_request got{.method = std::string(request.method_string()),
                         .target = std::string(request.target()),
                         .headers = {},
                         .body = request.body()};
    for (const auto& field : request) {
      std::string name(field.name_string());
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
      got.headers[name] = std::string(field.value());
    }
    std::size_t index = 0;
    {
      const std::lock_guard lock(mutex_);
      index = requests_.size();
    }
    const receiver_answer answer = answers_(got, index);
    std::unique_lock lock(mutex_);
    requests_.push_back(std::move(got));
    changed_.notify_all();
    if (answer.never_comes) changed_.wait(lock, [&] { return is_ending_; });
    if (answer.never_comes || answer.closes_before) return;
    lock.unlock();

    if (!answer.raw.empty()) {
      asio::write(sockets_->connection, asio::buffer(answer.raw), error);
      return;
    }
    http::response<http::string_body> response(static_cast<http::status>(answer.status), 11);
    response.set(http::field::content_type, "application/json");
    for (const auto& [name, value] : answer.headers) response.set(name, value);
    response.body() = answer.body;
    response.prepare_payload();
    http::write(sockets_->connection, response, error);
    if (error || answer.closes_after) return;
  }
}

}  // namespace weft::test
