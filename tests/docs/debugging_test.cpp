// The code of docs/guide/debugging.md.

#include <chrono>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/weft.hpp>

using namespace std::chrono_literals;
using ::testing::HasSubstr;

namespace {

weft::task<> read_all(weft::channel<int>& numbers) {
  int sum = 0;
  while (const auto number = co_await numbers.receive()) sum += *number;
  static_cast<void>(sum);
}

weft::task<> write_late() { co_await weft::sleep_for(1h); }

TEST(DebuggingGuide, DumpsWhatTasksWaitFor) {
  weft::hybrid_scheduler hs({.cpu_workers = 1});
  weft::channel<int> numbers(1);
  // [debugging-dump]
  auto reader = hs.spawn(read_all(numbers), {.name = "reader"});
  auto writer = hs.spawn(write_late(), {.name = "writer"});
  std::string text = hs.dump();
  // [/debugging-dump]
  while (text.find("runs or is queued") != std::string::npos) {
    std::this_thread::yield();
    text = hs.dump();
  }
  EXPECT_THAT(text, HasSubstr("reader, begun in the io lane: waits for a value from a channel\n"));
  EXPECT_THAT(text, HasSubstr("writer, begun in the io lane: waits for a timer\n"));
  hs.shutdown({.let_run = 0ms, .then_stop = 10s});
}

weft::task<std::string> serve(weft::hybrid_scheduler& hs) {
  co_return co_await hs.spawn_cpu([] { return std::string(weft::context::current().name()); },
                                  {.name = "resize"});
}

TEST(DebuggingGuide, FollowsARequest) {
  weft::hybrid_scheduler hs({.cpu_workers = 1});
  weft::trace trace;
  const auto entry = trace.add("server", hs);
  trace.start();
  const std::string header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  std::string seen;
  std::string sent;
  {
    // [debugging-request]
    const auto request = weft::context::from_traceparent(header, "checkout");
    auto reply = hs.spawn(serve(hs), {.name = "serve", .context = &request});
    std::string next_header = request.traceparent();  // for what it asks of other programs
    // [/debugging-request]
    seen = reply.get();
    sent = next_header;
  }
  hs.shutdown();
  EXPECT_EQ(seen, "resize");
  EXPECT_THAT(sent, HasSubstr("00-0af7651916cd43dd8448eb211c80319c-"));
  for (const auto& span : trace.take_spans()) {
    EXPECT_EQ(to_string(span.trace), "0af7651916cd43dd8448eb211c80319c");
  }
}

}  // namespace
