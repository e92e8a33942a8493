#include <weft/core/trace_id.hpp>

#include <random>

namespace weft {
namespace {

// Ids must differ between threads and processes, not be secret: one seed of the system per thread.
std::uint64_t random_bits() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device system;
    std::seed_seq seed{system(), system(), system(), system()};
    return std::mt19937_64(seed);
  }();
  return generator();
}

void append_hex(std::string& to, std::uint64_t bits) {
  constexpr const char* digits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) to += digits[(bits >> shift) & 15U];
}

}  // namespace

std::string to_string(trace_id id) {
  std::string text;
  append_hex(text, id.high);
  append_hex(text, id.low);
  return text;
}

std::string to_string(span_id id) {
  std::string text;
  append_hex(text, id.value);
  return text;
}

trace_id new_trace_id() {
  trace_id id;
  while (!id) id = {.high = random_bits(), .low = random_bits()};
  return id;
}

span_id new_span_id() {
  span_id id;
  while (!id) id = {.value = random_bits()};
  return id;
}

}  // namespace weft
