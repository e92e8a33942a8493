// The client when there is no memory. The program's operator new fails at the n-th call of a
// thread.

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <otlp/test_receiver.hpp>
#include <support/watchdog.hpp>

#include "otlp/http_client.hpp"

namespace {

thread_local long allocations_until_failure = 0;  // 0: never fails

void* take(std::size_t size, std::size_t alignment) {
  const bool fails = allocations_until_failure > 0 && --allocations_until_failure == 0;
  void* const memory =
      fails ? nullptr
            : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Not inline: GCC would take them for pairs of new and free.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return take(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return take(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*a*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/,
                                       std::align_val_t /*a*/) noexcept {
  std::free(memory);
}

namespace weft::otlp {
namespace {

using namespace std::chrono_literals;

// Sending and reading go on at the same time: neither may be left behind by a failure of the other.
TEST(OtlpHttpClientOutOfMemory, AFailureLeavesNothingBehindAndTheNextPostWorks) {
  const test::watchdog guard(60s);
  const auto until = [] { return patience{.end = patience::clock::now() + 24h}; };
  test::test_receiver receiver;
  int failures = 0;
  for (long n = 1;; ++n) {
    SCOPED_TRACE(n);
    http_client client(parse_endpoint(receiver.endpoint(), "here"), {});
    std::string body(std::size_t{1} << 20U, ' ');
    std::optional<http_client::outcome> outcome;
    allocations_until_failure = n;
    try {
      outcome = client.post("/v1/traces", std::move(body), until);
    } catch (const std::bad_alloc&) {
      ++failures;
    }
    const bool got_through = allocations_until_failure > 0;
    allocations_until_failure = 0;
    if (got_through) {
      EXPECT_TRUE(outcome && outcome->answer);
      break;
    }
    const auto again = client.post("/v1/traces", "{}", until);
    EXPECT_TRUE(again.answer.has_value()) << again.problem;
  }
  EXPECT_GT(failures, 5);
}

}  // namespace
}  // namespace weft::otlp
