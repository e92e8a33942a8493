#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/otlp/options.hpp>

#include "otlp/endpoint.hpp"
#include "otlp/reply.hpp"

namespace weft::otlp {

// Posts documents to one server, over a connection that is kept from one to the next.
//
// Threads: post(), one at a time; wake(), any. Errors: as values.
class http_client {
 public:
  using clock = std::chrono::steady_clock;
  // An answer longer than this is not read.
  static constexpr std::size_t answer_max = std::size_t{4} << 20U;

  http_client(endpoint to, std::vector<otlp_field> headers);
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  struct outcome {
    std::optional<reply> answer;
    // Without an answer: what went wrong, and what to do.
    std::string problem = {};
    bool may_retry = true;
  };
  // `path` comes after that of the endpoint. Gives up at `until`, which is asked anew after wake().
  [[nodiscard]] outcome post(const std::string& path, std::string body,
                             const std::function<clock::time_point()>& until);
  void wake() noexcept;

 private:
  class connection;

  const endpoint to_;
  const std::vector<otlp_field> headers_;
  const std::unique_ptr<connection> connection_;
};

}  // namespace weft::otlp
