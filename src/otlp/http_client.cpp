#include "otlp/http_client.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <weft/version.hpp>

namespace weft::otlp {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using clock = patience::clock;

// The socket and the loop that runs its operations, on the thread of whoever calls.
class http_client::connection {
 public:
  using request = http::request<http::string_body>;
  using parser = http::response_parser<http::string_body>;

  explicit connection(name_lookup::function look) : lookup_(std::move(look)) {}

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

  // Empty when it worked. Tries one address after the other.
  [[nodiscard]] std::string open(const endpoint& to, const patience_of& until) {
    const found_places found = find(to, until);
    std::string problem = found.problem;
    std::size_t left = found.places.size();
    for (const tcp::endpoint& place : found.places) {
      // An address that never answers must leave time to those after it.
      const auto end = until().end;
      const auto now = clock::now();
      const auto share = now + (end - now) / static_cast<int>(left--);
      const error_code error = connect(place, [&] {
        const patience all = until();
        return patience{.end = std::min(all.end, share), .next = all.next};
      });
      if (!error) return {};
      problem += problem.empty() ? "cannot connect: " : ", ";
      if (found.places.size() > 1) problem += place.address().to_string() + ": ";
      problem += words(error);
      if (clock::now() >= until().end) break;
    }
    return problem + (found.places.empty() ? "" : "; is a collector running there?");
  }

  struct exchanged {
    error_code unsent;
    error_code unread;
    bool has_no_end = false;  // one interim answer after the other
  };
  // Sends and reads at the same time: a server that refuses a request before it has read it all may
  // say why and read no more.
  [[nodiscard]] exchanged exchange(const request& what, std::optional<parser>& answer,
                                   const patience_of& until) {
    exchanged made;
    std::optional<error_code> sent;
    std::optional<error_code> read;
    const operations_end_here guard(*this);
    http::async_write(socket_, what,
                      [&sent, is = operation_](error_code e, std::size_t) { sent = e; });
    for (int count = 0;; ++count) {
      answer.emplace();
      answer->header_limit(header_max);
      answer->body_limit(answer_max);
      read.reset();
      http::async_read(socket_, buffer_, *answer,
                       [&read, is = operation_](error_code e, std::size_t) { read = e; });
      made.unread = run(read, until);
      if (made.unread || !is_interim(answer->get().result_int())) break;
      made.has_no_end = count == interim_max;
      if (made.has_no_end) break;
    }
    // The end of the sending may have been noticed and not yet been told.
    io_.restart();
    io_.poll();
    if (!sent) close();  // nobody reads the rest of it
    while (!sent) io_.run_one();
    made.unsent = *sent;
    return made;
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
  static constexpr std::uint32_t header_max = std::uint32_t{64} << 10U;
  // Holds what is not yet taken apart: headers, and the lines between the chunks of a body, for
  // which the parser has no limit.
  static constexpr std::size_t buffer_max = std::size_t{256} << 10U;

  struct found_places {
    std::vector<tcp::endpoint> places;
    std::string problem = {};  // when there are none
  };
  [[nodiscard]] found_places find(const endpoint& to, const patience_of& until) {
    const auto port = static_cast<unsigned short>(std::stoi(to.port));
    error_code error;
    if (const auto address = asio::ip::make_address(to.host, error); !error) {
      return {.places = {{address, port}}};
    }
    const name_lookup::result looked_up = lookup_.find(to.host, until);
    found_places found;
    for (const std::string& text : looked_up.addresses) {
      const auto address = asio::ip::make_address(text, error);
      if (!error && found.places.size() < addresses_max) found.places.emplace_back(address, port);
    }
    if (found.places.empty()) {
      found.problem = "the host is not known: " + looked_up.problem + "; look at its name";
    }
    return found;
  }

  [[nodiscard]] error_code connect(const tcp::endpoint& place, const patience_of& until) {
    close();
    timed_out_ = false;
    buffer_.clear();
    // Asio would let the programs that this one starts inherit it, and keep the connection open.
    const int descriptor = ::socket(place.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return {errno, boost::system::system_category()};
    error_code error;
    if (socket_.assign(place.protocol(), descriptor, error)) {
      ::close(descriptor);
      return error;
    }
    std::optional<error_code> connected;
    const operations_end_here guard(*this);
    socket_.async_connect(place, [&connected, is = operation_](error_code e) { connected = e; });
    error = run(connected, until);
    if (!error) static_cast<void>(socket_.set_option(tcp::no_delay(true), error));
    return error;
  }

  // Answers that announce another one. After 101 it would not be in HTTP.
  static bool is_interim(unsigned status) noexcept {
    return status >= 100 && status < 200 && status != 101;
  }

  // Until an operation that was started has ended. The socket is closed when its time is up.
  error_code run(const std::optional<error_code>& ended, const patience_of& until) {
    io_.restart();
    while (!ended) {
      const auto [end, next] = until();
      if (!timed_out_ && clock::now() >= end) {
        timed_out_ = true;
        close();
      }
      if (timed_out_) {
        io_.run_one();
      } else if (io_.poll_one() == 0) {  // what has ended comes before whose time has come
        io_.run_one_until(std::min(end, next));
      }
    }
    return timed_out_ ? error_code(asio::error::timed_out) : *ended;
  }

  // Operations refer to what their caller has on its stack. So none is left when it goes, also with
  // an exception, such as for want of memory.
  class operations_end_here {
   public:
    explicit operations_end_here(connection& of) noexcept : of_(of) {}
    operations_end_here(const operations_end_here&) = delete;
    operations_end_here& operator=(const operations_end_here&) = delete;
    ~operations_end_here() {
      if (of_.operation_.use_count() > 1) of_.close();
      while (of_.operation_.use_count() > 1) {
        of_.io_.restart();
        try {
          of_.io_.run_one();
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
          // That one could not go on, and is gone.
        }
      }
    }

   private:
    connection& of_;
  };

  // What is under way holds a reference.
  const std::shared_ptr<void> operation_ = std::make_shared<char>();
  asio::io_context io_{1};
  tcp::socket socket_{io_};
  boost::beast::flat_buffer buffer_{buffer_max};
  name_lookup lookup_;
  bool timed_out_ = false;
};

http_client::http_client(endpoint to, std::vector<otlp_field> headers, name_lookup::function look)
    : to_(std::move(to)),
      headers_(std::move(headers)),
      connection_(std::make_unique<connection>(std::move(look))) {}

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
  made.set(http::field::accept_encoding, "identity");  // without it, gzip would be as good
  for (const auto& [name, value] : headers) made.set(name, value);
  made.set(http::field::content_type, "application/json");
  made.body() = std::move(body);
  made.prepare_payload();
  return made;
}

http_client::outcome failure(std::string problem) {
  return {.answer = {}, .problem = std::move(problem), .may_retry = true};
}

bool is_too_long(const error_code& error) noexcept {
  return error == http::error::body_limit || error == http::error::header_limit ||
         error == http::error::buffer_overflow;
}

// The answer began, but not as HTTP has it.
bool is_not_http(const error_code& error) noexcept {
  return error.category() == http::make_error_code(http::error::bad_version).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

}  // namespace

http_client::outcome http_client::post(const std::string& path, std::string body,
                                       const patience_of& until) {
  const auto request = make_request(to_, headers_, path, std::move(body));
  // The server may have closed a connection that was kept, without our having noticed: that is no
  // reason to wait. So the second attempt has a new one.
  for (int attempt = 1;; ++attempt) {
    const bool was_kept = connection_->is_idle();
    if (!was_kept) {
      if (std::string problem = connection_->open(to_, until); !problem.empty()) {
        connection_->close();
        return failure(std::move(problem));
      }
    }
    std::optional<connection::parser> answer;
    const auto [unsent, unread, has_no_end] = connection_->exchange(request, answer, until);
    if (has_no_end) {
      connection_->close();
      return failure("answered " + std::to_string(interim_max) +
                     " times that it goes on, and then again; is it a collector of OpenTelemetry?");
    }
    if (!unread) {
      const bool may_stay = answer->keep_alive() && answer->get().result_int() >= 200;
      if (unsent || !may_stay || connection_->has_more()) connection_->close();
      const auto message = answer->release();
      return {.answer = reply{.status = static_cast<int>(message.result_int()),
                              .retry_after = std::string(message[http::field::retry_after]),
                              .body = message.body()}};
    }
    connection_->close();
    if (is_too_long(unread)) {
      return {.answer = {},
              .problem = "answered with more than " + std::to_string(answer_max >> 20U) +
                         " MiB, or with headers without end, of which nothing was read; is it a "
                         "collector of OpenTelemetry?",
              .may_retry = false};
    }
    if (was_kept && attempt == 1 && !connection_->timed_out()) continue;
    if (is_not_http(unread)) {
      return failure("answered with something that is not HTTP (" + unread.message() +
                     "); is it a port for OTLP over gRPC, which is often 4317? Give the one for "
                     "HTTP, often 4318");
    }
    return failure("no answer came: " + connection_->words(unsent ? unsent : unread) +
                   "; is the collector overloaded or restarting?");
  }
}

}  // namespace weft::otlp
