#include <base/thread_name.hpp>

#include <pthread.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

namespace weft::detail {
namespace {

std::string name_given(std::string_view group, unsigned index) {
  std::array<char, 16> name{};
  std::jthread([&] {
    name_this_thread(group, index);
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  }).join();
  return name.data();
}

TEST(ThreadName, IsThatOfTheGroupAndTheNumber) { EXPECT_EQ(name_given("files", 3), "files/3"); }

TEST(ThreadName, OfALongGroupKeepsTheNumber) {
  EXPECT_EQ(name_given("catalogue-long-name", 0), "catalogue-lon/0");
  EXPECT_EQ(name_given("catalogue-long-name", 117), "catalogue-l/117");
  EXPECT_EQ(name_given("catalogue-long-name", 4'294'967'295U), "cata/4294967295");
}

TEST(ThreadName, MayHaveNoGroup) { EXPECT_EQ(name_given("", 1), "/1"); }

}  // namespace
}  // namespace weft::detail
