#include "otlp/http_client.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <weft/version.hpp>

#include "otlp/name_lookup.hpp"

namespace weft::otlp {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using deadline = std::function<http_client::clock::time_point()>;

// The socket and the loop that runs its operations, on the thread of whoever calls.
class http_client::connection {
 public:
  using request = http::request<http::string_body>;
  using parser = http::response_parser<http::string_body>;

  // Open, and nothing has come since the last answer, not even the end: what comes unasked must not
  // be taken for the next answer.
  [[nodiscard]] bool is_idle() noexcept {
    char byte = 0;
    return socket_.is_open() &&
           ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
  }
  // Whether the time was up for the operation that failed last.
  [[nodiscard]] bool timed_out() const noexcept { return timed_out_; }
  // Something came after the answer, which must not be taken for the next one.
  [[nodiscard]] bool has_more() const noexcept { return buffer_.size() > 0; }

  // Empty when it worked.
  [[nodiscard]] std::string open(const endpoint& to, const deadline& until) {
    timed_out_ = false;
    buffer_.clear();
    std::vector<tcp::endpoint> places;
    const auto port = static_cast<unsigned short>(std::stoi(to.port));
    error_code error;
    if (const auto address = asio::ip::make_address(to.host, error); !error) {
      places.emplace_back(address, port);
    } else {
      const name_lookup::result found = lookup_.find(to.host, until);
      if (found.addresses.empty()) {
        return "the host is not known: " + found.problem + "; look at its name";
      }
      for (const std::string& text : found.addresses) {
        const auto one = asio::ip::make_address(text, error);
        if (!error) places.emplace_back(one, port);
      }
    }
    error = run(until, [&](auto done) {
      asio::async_connect(socket_, places, [done](error_code e, const tcp::endpoint&) { done(e); });
    });
    if (!error) static_cast<void>(socket_.set_option(tcp::no_delay(true), error));
    return error ? "cannot connect: " + words(error) + "; is a collector running there?" : "";
  }

  [[nodiscard]] error_code write(const request& what, const deadline& until) {
    return run(until, [&](auto done) {
      http::async_write(socket_, what, [done](error_code e, std::size_t) { done(e); });
    });
  }

  [[nodiscard]] error_code read(parser& into, const deadline& until) {
    return run(until, [&](auto done) {
      http::async_read(socket_, buffer_, into, [done](error_code e, std::size_t) { done(e); });
    });
  }

  void close() noexcept {
    error_code ignored;
    static_cast<void>(socket_.close(ignored));
  }

  void wake() noexcept {
    lookup_.wake();
    asio::post(io_, [] {});
  }

  [[nodiscard]] std::string words(const error_code& error) const {
    return timed_out_ ? "the time for it was up" : error.message();
  }

 private:
  // Starts an operation and runs it to its end. The socket is closed when its time is up: of the
  // addresses of a host, cancelling would only end the attempt at one.
  template <class Start>
  error_code run(const deadline& until, const Start& start) {
    std::optional<error_code> ended;
    start([&ended](error_code e) { ended = e; });
    io_.restart();
    while (!ended) {
      const auto end = until();
      if (!timed_out_ && clock::now() >= end) {
        timed_out_ = true;
        close();
      }
      if (timed_out_) {
        io_.run_one();
      } else {
        io_.run_one_until(end);
      }
    }
    return timed_out_ ? error_code(asio::error::timed_out) : *ended;
  }

  asio::io_context io_{1};
  tcp::socket socket_{io_};
  boost::beast::flat_buffer buffer_;
  name_lookup lookup_;
  bool timed_out_ = false;
};

http_client::http_client(endpoint to, std::vector<otlp_field> headers)
    : to_(std::move(to)),
      headers_(std::move(headers)),
      connection_(std::make_unique<connection>()) {}

http_client::~http_client() = default;

void http_client::wake() noexcept { connection_->wake(); }

namespace {

http::request<http::string_body> make_request(const endpoint& to,
                                              const std::vector<otlp_field>& headers,
                                              const std::string& path, std::string body) {
  http::request<http::string_body> made(http::verb::post, to.path + path, 11);
  made.set(http::field::host, to.host_header);
  made.set(http::field::user_agent, "weft/" WEFT_VERSION);
  made.set(http::field::accept, "application/json");
  for (const auto& [name, value] : headers) made.set(name, value);
  made.set(http::field::content_type, "application/json");
  made.body() = std::move(body);
  made.prepare_payload();
  return made;
}

http_client::outcome failure(std::string problem) {
  return {.answer = {}, .problem = std::move(problem), .may_retry = true};
}

}  // namespace

http_client::outcome http_client::post(const std::string& path, std::string body,
                                       const deadline& until) {
  const auto request = make_request(to_, headers_, path, std::move(body));
  // The server may have closed a connection that was kept, without our having noticed: that is no
  // reason to wait. So the second attempt has a new one.
  for (int attempt = 1;; ++attempt) {
    const bool was_kept = connection_->is_idle();
    if (!was_kept) {
      connection_->close();
      if (std::string problem = connection_->open(to_, until); !problem.empty()) {
        connection_->close();
        return failure(std::move(problem));
      }
    }
    const error_code unsent = connection_->write(request, until);
    connection::parser answer;
    answer.header_limit(std::uint32_t{64} << 10U);
    answer.body_limit(answer_max);
    // A server that refuses a request before it has read it all may have said why.
    error_code unread = connection_->timed_out() ? unsent : connection_->read(answer, until);
    if (!unread) {
      if (unsent || !answer.keep_alive() || connection_->has_more()) connection_->close();
      const auto message = answer.release();
      return {.answer = reply{.status = static_cast<int>(message.result_int()),
                              .retry_after = std::string(message[http::field::retry_after]),
                              .body = message.body()}};
    }
    connection_->close();
    if (unread == http::error::body_limit || unread == http::error::header_limit) {
      return {.answer = {},
              .problem = "answered with more than " + std::to_string(answer_max >> 20U) +
                         " MiB, of which nothing was read; is it a collector of OpenTelemetry?",
              .may_retry = false};
    }
    if (was_kept && attempt == 1 && !connection_->timed_out()) continue;
    if (unread.category() == http::make_error_code(http::error::bad_version).category() &&
        unread != http::error::end_of_stream && unread != http::error::partial_message) {
      return {.answer = {},
              .problem = "answered with something that is not HTTP (" + unread.message() +
                         "); is it a port for OTLP over gRPC, which is often 4317? Give the one "
                         "for HTTP, often 4318",
              .may_retry = true};
    }
    return failure("no answer came: " + connection_->words(unsent ? unsent : unread) +
                   "; is the collector overloaded or restarting?");
  }
}

}  // namespace weft::otlp
