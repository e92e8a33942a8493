#include "otlp/endpoint.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include <weft/base/utf8.hpp>

namespace weft::otlp {
namespace {

constexpr std::size_t length_max = 2000;

class reader {
 public:
  reader(std::string_view url, std::string_view where) : url_(url), where_(where) {}

  [[nodiscard]] endpoint read() const {
    if (url_.size() > length_max) {
      refuse("is longer than " + std::to_string(length_max) + " bytes");
    }
    std::string_view rest = after_scheme();
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
    rest.remove_prefix(authority.size());
    if (authority.find('@') != std::string_view::npos) {
      throw std::invalid_argument("weft: " + std::string(where_) +
                                  " has a user or a password before the host; give them as the "
                                  "header \"authorization\" instead");
    }
    endpoint made;
    made.path = path_of(rest);
    made.host_header = authority;
    if (authority.starts_with('[')) {
      read_bracketed(authority, made);
    } else {
      read_named(authority, made);
    }
    return made;
  }

 private:
  // Without what may be a password.
  [[nodiscard]] std::string shown() const {
    const std::size_t at = url_.rfind('@');
    return at == std::string_view::npos ? base::printable(url_.substr(0, 200))
                                        : "..." + base::printable(url_.substr(at, 200));
  }
  [[noreturn]] void refuse(const std::string& problem) const {
    throw std::invalid_argument("weft: " + std::string(where_) + ": \"" + shown() + "\" " +
                                problem + "; give an address such as \"http://localhost:4318\"");
  }

  [[nodiscard]] std::string_view after_scheme() const {
    std::string scheme(url_.substr(0, url_.find("://")));
    std::ranges::transform(scheme, scheme.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (scheme == "https") {
      throw std::invalid_argument(
          "weft: " + std::string(where_) + ": \"" + shown() +
          "\" asks for https, which Weft does not speak; run a collector beside the program, give "
          "its address here, such as \"http://localhost:4318\", and let it send on with https");
    }
    if (scheme != "http" || url_.size() == scheme.size()) refuse("does not begin with http://");
    return url_.substr(scheme.size() + 3);
  }

  [[nodiscard]] std::string path_of(std::string_view text) const {
    if (text.find_first_of("?#") != std::string_view::npos) {
      refuse("has a query or a fragment, which would come before /v1/traces");
    }
    const auto is_fit = [](char c) { return c > ' ' && c < 0x7F && c != '"' && c != '\\'; };
    if (!std::ranges::all_of(text, is_fit)) {
      refuse("has a character in its path that must be written as % and two digits");
    }
    while (text.ends_with('/')) text.remove_suffix(1);
    for (const std::string_view appended : {"/v1/traces", "/v1/metrics"}) {
      if (text.ends_with(appended)) {
        refuse("ends with " + std::string(appended) + ", which is appended anyway; leave it out");
      }
    }
    return std::string(text);
  }

  void read_bracketed(std::string_view authority, endpoint& into) const {
    const std::size_t close = authority.find(']');
    into.host = authority.substr(1, std::min(close, authority.size()) - 1);
    in6_addr ignored{};
    // The length: a 0 among the characters would end it for the C library.
    if (close == std::string_view::npos || into.host.size() != std::strlen(into.host.c_str()) ||
        ::inet_pton(AF_INET6, into.host.c_str(), &ignored) != 1) {
      refuse("has no IPv6 address between its brackets");
    }
    into.port = port_of(authority.substr(close + 1));
  }

  void read_named(std::string_view authority, endpoint& into) const {
    const std::size_t colon = authority.find(':');
    into.host = authority.substr(0, colon);
    const auto is_fit = [](char c) {
      return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
             c == '.' || c == '_';
    };
    if (into.host.empty()) refuse("has no host");
    if (!std::ranges::all_of(into.host, is_fit)) {
      refuse("has a host with a character that no name has; an IPv6 address stands in brackets");
    }
    into.port = port_of(colon == std::string_view::npos ? "" : authority.substr(colon));
  }

  // Of ":4318"; what HTTP has when there is none.
  [[nodiscard]] std::string port_of(std::string_view text) const {
    if (text.empty()) return "80";
    const std::string_view digits = text.substr(1);
    const bool is_number = text.front() == ':' && !digits.empty() && digits.size() <= 5 &&
                           std::ranges::all_of(digits, is_digit);
    const int number = is_number ? std::stoi(std::string(digits)) : 0;
    if (number < 1 || number > 65535) refuse("has a port that is no number from 1 to 65535");
    return std::to_string(number);
  }

  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

  const std::string_view url_;
  const std::string_view where_;
};

}  // namespace

endpoint parse_endpoint(std::string_view url, std::string_view where) {
  return reader(url, where).read();
}

}  // namespace weft::otlp
