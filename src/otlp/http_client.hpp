#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/otlp/options.hpp>

#include "otlp/endpoint.hpp"
#include "otlp/name_lookup.hpp"
#include "otlp/patience.hpp"
#include "otlp/reply.hpp"

namespace weft::otlp {

// Posts documents to one server, over a connection that is kept from one to the next.
//
// Threads: post(), one at a time; wake(), any. Errors: as values.
class http_client {
 public:
  // An answer longer than this is not read.
  static constexpr std::size_t answer_max = std::size_t{4} << 20U;

  // Of the addresses of a host, so many are tried: more would leave too little time to each.
  static constexpr std::size_t addresses_max = 8;
  // A server may say "go on" so often before it answers.
  static constexpr int interim_max = 16;

  // `look` finds the addresses of a host that is none itself, see name_lookup.
  http_client(endpoint to, std::vector<otlp_field> headers,
              name_lookup::function look = &name_lookup::ask_the_system);
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  struct outcome {
    std::optional<reply> answer;
    // Without an answer: what went wrong, and what to do.
    std::string problem = {};
    bool may_retry = true;
  };
  // `path` comes after that of the endpoint.
  [[nodiscard]] outcome post(const std::string& path, std::string body, const patience_of& until);
  void wake() noexcept;

 private:
  class connection;

  const endpoint to_;
  const std::vector<otlp_field> headers_;
  const std::unique_ptr<connection> connection_;
};

}  // namespace weft::otlp
