#pragma once

#include <cstdint>
#include <string_view>

namespace weft::io {

// One end of a connection. The address is numeric, IPv4 or IPv6: looking up a name may take long,
// so that is for the blocking lane. Whoever is given one reads the text before returning.
//
// A view, because g++ 12 copies the bytes of an aggregate that is written inside a co_await, as in
// co_await connect(hs, {.port = 7}), and that is no way to copy a string.
struct endpoint {
  std::string_view address = "127.0.0.1";
  std::uint16_t port = 0;  // to listen on 0: the system chooses
};

}  // namespace weft::io
