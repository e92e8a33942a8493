#pragma once

#include <string>
#include <string_view>

namespace weft::otlp {

// Where requests go.
struct endpoint {
  std::string host;         // without the brackets of an IPv6 address
  std::string port;         // a number
  std::string host_header;  // as the address has it
  std::string path;         // before /v1/traces; without a slash at its end, or empty
};

// Of http://HOST[:PORT][/PATH]. `where` is what messages begin with, such as the name of an option.
// Errors: std::invalid_argument that says what to give.
[[nodiscard]] endpoint parse_endpoint(std::string_view url, std::string_view where);

}  // namespace weft::otlp
