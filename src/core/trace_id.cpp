#include <weft/core/trace_id.hpp>

#include <pthread.h>

#include <random>

namespace weft {
namespace {

constinit thread_local std::uint64_t state = 0;
constinit thread_local bool is_seeded = false;

void seed() {
  // The child of a fork has one thread, a copy of the one that forked.
  static const int watched = ::pthread_atfork(nullptr, nullptr, [] { is_seeded = false; });
  static_cast<void>(watched);
  std::random_device system;
  state = (std::uint64_t{system()} << 32U) | system();
  is_seeded = true;
}

// Splitmix64 from a seed of the system, one for each thread and each process: ids must differ, not
// be secret.
std::uint64_t random_bits() {
  if (!is_seeded) seed();
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t bits = state;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
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
