// The code of docs/guide/hybrid.md.

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include <weft/coro/timer_queue.hpp>
#include <weft/io/hybrid.hpp>
#include <weft/io/learned_classifier.hpp>

using namespace std::chrono_literals;

namespace {

weft::task<std::string> fetch(std::string host) { co_return "page of " + host; }
int crunch(const std::string& page) { return static_cast<int>(page.size()); }
void legacy_read() {}

TEST(HybridGuide, HasThreeLanes) {
  // [hybrid-spawn]
  weft::hybrid_scheduler hs;
  auto page = hs.spawn(fetch("a.example"), {.name = "fetch"});  // a coroutine: the I/O lane
  auto size = hs.spawn([] { return crunch("a page"); });        // a function: the CPU lane
  hs.spawn_blocking([] { legacy_read(); });                     // a call that sleeps
  // [/hybrid-spawn]
  EXPECT_EQ(page.get(), "page of a.example");
  EXPECT_EQ(size.get(), 6);
}

// [hybrid-hop]
weft::task<int> measure(weft::hybrid_scheduler& hs, std::string host) {
  std::string page = co_await fetch(host);  // waits in the I/O lane
  co_await hs.cpu();                        // the rest runs on the cores
  co_return crunch(page);
}
// [/hybrid-hop]

TEST(HybridGuide, ATaskGoesFromLaneToLane) {
  weft::hybrid_scheduler hs;
  EXPECT_EQ(hs.spawn(measure(hs, "b.example")).get(), 17);
}

TEST(HybridGuide, ALowClassKeepsIoQuick) {
  // [hybrid-low]
  weft::hybrid_scheduler hs({.cpu_class = weft::cpu_class::low});
  // [/hybrid-low]
  EXPECT_EQ(hs.spawn([] { return 1; }).get(), 1);
}

TEST(HybridGuide, AClassifierLearns) {
  // [hybrid-learned]
  weft::hybrid_options options;
  options.classifier = std::make_shared<weft::learned_classifier>();
  weft::hybrid_scheduler hs(options);
  for (int i = 0; i < 20; ++i) hs.spawn([] { return crunch("x"); }, {.name = "crunch"}).get();
  std::string why = hs.explain("crunch");
  // [/hybrid-learned]
  EXPECT_NE(why.find("crunch"), std::string::npos);
}

TEST(HybridGuide, ShutdownHasLimits) {
  weft::hybrid_scheduler hs;
  auto endless = hs.spawn([]() -> weft::task<> { co_await weft::sleep_for(1h); }());
  // [hybrid-shutdown]
  auto report = hs.shutdown({.let_run = 100ms, .then_stop = 5s});
  for (const auto& task : report.unfinished) {
    std::printf("%s did not stop: %s\n", task.name.c_str(), task.waits_for.c_str());
  }
  // [/hybrid-shutdown]
  EXPECT_TRUE(report.unfinished.empty());
  EXPECT_THROW(endless.get(), weft::cancelled);
}

TEST(HybridGuide, ACallThatSleepsIsWrapped) {
  weft::hybrid_scheduler hs;
  auto done = hs.spawn_cpu([] {
    // [hybrid-blocking]
    auto text = weft::blocking([] { return std::string("from a slow disk"); });
    // [/hybrid-blocking]
    return text.size();
  });
  EXPECT_EQ(done.get(), 16U);
}

}  // namespace
