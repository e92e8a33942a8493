// Spans and metrics, sent to a collector of OpenTelemetry. Here that is a few lines in the same
// program: they take everything and count the requests.

#include <array>
#include <charconv>
#include <cstdio>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <weft/weft.hpp>

namespace {

// As much of a collector as an example needs.
class collector {
 public:
  explicit collector(weft::hybrid_scheduler& hs)
      : listener_(weft::io::tcp_listener::listen(hs, {})), serving_(hs.spawn(serve())) {}

  [[nodiscard]] std::string endpoint() const {
    return "http://127.0.0.1:" + std::to_string(listener_.port());
  }
  [[nodiscard]] std::set<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  weft::task<> serve() {
    for (;;) {
      weft::io::tcp_stream from = co_await listener_.accept();
      std::string text;
      while (co_await read_request(from, text)) {
        constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        co_await from.write_all(std::as_bytes(std::span(answer)));
      }
    }
  }

  // False at the end of the connection.
  weft::task<bool> read_request(weft::io::tcp_stream& from, std::string& text) {
    std::array<std::byte, 4096> buffer{};
    for (;;) {
      const std::size_t end = text.find("\r\n\r\n");
      if (end != std::string::npos && text.size() >= end + 4 + body_size(text)) {
        const std::lock_guard lock(mutex_);
        requests_.insert(text.substr(0, text.find(" HTTP")));
        text.erase(0, end + 4 + body_size(text));
        co_return true;
      }
      const std::size_t count = co_await from.read_some(buffer);
      if (count == 0) co_return false;
      text.append(reinterpret_cast<const char*>(buffer.data()), count);
    }
  }

  static std::size_t body_size(const std::string& text) {
    constexpr std::string_view name = "Content-Length: ";
    const std::size_t at = text.find(name);
    std::size_t size = 0;
    if (at != std::string::npos) {
      std::from_chars(text.data() + at + name.size(), text.data() + text.size(), size);
    }
    return size;
  }

  std::mutex mutex_;
  std::set<std::string> requests_;  // guarded by mutex_
  weft::io::tcp_listener listener_;
  weft::spawned<void> serving_;
};

weft::task<int> pay(int amount) { co_return amount; }  // on behalf of whoever spawns it

void serve_a_request(const std::string& endpoint) {
  // [main]
  weft::otlp_exporter exporter({.endpoint = endpoint, .service_name = "shop"});
  weft::trace trace;
  weft::metrics metrics;
  weft::pool pool({.workers = 2});
  const auto traced = trace.add("main", pool);
  const auto measured = metrics.add("main", pool);
  const auto spans = exporter.add(trace);
  const auto numbers = exporter.add(metrics);
  trace.start();

  {
    const weft::context_scope request(weft::context::new_trace("checkout"));
    for (int i = 0; i < 3; ++i) weft::spawn(pool, pay(i)).get();
  }
  pool.shutdown();
  const bool all_sent = exporter.flush();  // by itself it sends every five seconds
  // [/main]
  const weft::otlp_stats stats = exporter.stats();
  std::printf("%llu spans, %s, %s\n", static_cast<unsigned long long>(stats.spans.sent),
              stats.points.sent > 0 ? "metrics" : "no metrics", all_sent ? "all sent" : "not all");
}

}  // namespace

int main() {
  weft::hybrid_scheduler hs;
  collector nearby(hs);
  serve_a_request(nearby.endpoint());
  for (const std::string& request : nearby.requests()) std::printf("%s\n", request.c_str());

  try {
    weft::otlp_exporter refused({.endpoint = "https://collector.example"});
  } catch (const std::invalid_argument& error) {
    std::printf("%s\n", error.what());
  }
  // The collector waits for connections for ever, until it is asked to stop.
  hs.shutdown({.let_run = std::chrono::milliseconds(0)});
}
