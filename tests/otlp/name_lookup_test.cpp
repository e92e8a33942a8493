#include "otlp/name_lookup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <support/watchdog.hpp>

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

namespace {

using weft::otlp::name_lookup;
using weft::otlp::patience;

patience at_once() { return {.end = patience::clock::now()}; }
patience never() { return {.end = patience::clock::now() + 24h}; }

TEST(OtlpNameLookup, KnowsThisMachine) {
  const weft::test::watchdog guard(60s);
  name_lookup lookup;
  EXPECT_THAT(lookup.find("localhost", never).addresses,
              testing::AnyOf(Contains("127.0.0.1"), Contains("::1")));
}

TEST(OtlpNameLookup, SaysWhyThereIsNoAddress) {
  name_lookup lookup([](const std::string&) {
    return name_lookup::result{.addresses = {}, .problem = "Name or service not known"};
  });
  const auto found = lookup.find("nowhere", never);
  EXPECT_THAT(found.addresses, IsEmpty());
  EXPECT_EQ(found.problem, "Name or service not known");
}

// Shared with the thread that looks up, which may outlive the test.
struct slow_server {
  std::latch answers{1};
  std::latch asked{1};
  int questions = 0;  // written by one lookup at a time
};

name_lookup::function slow(const std::shared_ptr<slow_server>& server) {
  return [server](const std::string&) {
    ++server->questions;
    if (server->questions == 1) server->asked.count_down();
    server->answers.wait();
    return name_lookup::result{.addresses = {"192.0.2.1"}, .problem = {}};
  };
}

TEST(OtlpNameLookup, IsNotAskedTwiceWhenItIsSlow) {
  const weft::test::watchdog guard(60s);
  const auto server = std::make_shared<slow_server>();
  name_lookup lookup(slow(server));
  EXPECT_THAT(lookup.find("somewhere", at_once).addresses, IsEmpty());
  server->asked.wait();
  EXPECT_THAT(lookup.find("somewhere", at_once).addresses, IsEmpty());
  server->answers.count_down();
  EXPECT_THAT(lookup.find("somewhere", never).addresses, ElementsAre("192.0.2.1"));
  EXPECT_EQ(server->questions, 1);
}

TEST(OtlpNameLookup, EndsWhenItIsWokenAndTheTimeIsUp) {
  const weft::test::watchdog guard(60s);
  const auto server = std::make_shared<slow_server>();
  {
    name_lookup lookup(slow(server));
    std::mutex mutex;
    bool is_up = false;
    std::jthread ends([&] {
      server->asked.wait();
      {
        const std::lock_guard lock(mutex);
        is_up = true;
      }
      lookup.wake();
    });
    EXPECT_THAT(lookup
                    .find("somewhere",
                          [&] {
                            const std::lock_guard lock(mutex);
                            return is_up ? at_once() : never();
                          })
                    .addresses,
                IsEmpty());
  }
  server->answers.count_down();  // the lookup is gone, and its thread goes
}

TEST(OtlpNameLookup, LetsWhoeverWaitsDoSomethingElseMeanwhile) {
  const weft::test::watchdog guard(60s);
  const auto server = std::make_shared<slow_server>();
  name_lookup lookup(slow(server));
  int questions = 0;
  const auto found = lookup.find("somewhere", [&] {
    if (++questions == 3) server->answers.count_down();
    return patience{.end = never().end, .next = patience::clock::now() + 1ms};
  });
  EXPECT_THAT(found.addresses, ElementsAre("192.0.2.1"));
}

}  // namespace
