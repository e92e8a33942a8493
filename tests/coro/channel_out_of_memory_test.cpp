// A channel when there is no memory for another value. The program's operator new fails on demand.

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include <weft/coro/channel.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/when.hpp>

namespace {

thread_local bool no_memory = false;

void* take(std::size_t size) {
  void* const memory = no_memory ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Not inline: GCC would take them for pairs of new and free.
[[gnu::noinline]] void* operator new(std::size_t size) { return take(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return take(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace weft {
namespace {

struct large {  // each takes a block of its own
  int id = 0;
  std::array<char, 1024> rest{};
};

task<> send_without_memory(channel<large>& values) {
  bool refused = false;
  no_memory = true;
  try {
    co_await values.send({.id = 1});
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  no_memory = false;
  EXPECT_TRUE(refused);
  EXPECT_TRUE(co_await values.send({.id = 2}));  // the task does not seem to wait still
  EXPECT_EQ((co_await values.receive())->id, 2);
}

TEST(ChannelOutOfMemory, SenderIsToldAndCanSendAgain) {
  channel<large> values(4);
  sync_wait(send_without_memory(values));
}

task<> send_two(channel<large>& values) {
  EXPECT_TRUE(co_await values.send({.id = 1}));
  EXPECT_TRUE(co_await values.send({.id = 2}));  // waits for room
}

task<> receive_without_memory(channel<large>& values) {
  bool refused = false;
  no_memory = true;
  try {
    co_await values.receive();
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  no_memory = false;
  EXPECT_TRUE(refused);
  EXPECT_EQ((co_await values.receive())->id, 1);
  EXPECT_EQ((co_await values.receive())->id, 2);
}

TEST(ChannelOutOfMemory, ReceiverLosesNoValue) {
  channel<large> values(1);
  sync_wait([](channel<large>& c) -> task<> {
    co_await when_all(send_two(c), receive_without_memory(c));
  }(values));
}

}  // namespace
}  // namespace weft
