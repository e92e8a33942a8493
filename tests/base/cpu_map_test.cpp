#include <weft/base/cpu_map.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <core/victims.hpp>

namespace weft::base {
namespace {

using ::testing::ElementsAre;

// A /sys of our own.
class CpuMap : public ::testing::Test {
 protected:
  ~CpuMap() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + "/sys/devices/system/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  // A CPU with split first-level caches, a second level of its own and a shared third one.
  void add_cpu(unsigned cpu, const std::string& shares_third_level_with) {
    const std::string cache = "cpu/cpu" + std::to_string(cpu) + "/cache/index";
    const std::string self = std::to_string(cpu);
    add_cache(cache + "0", "1", "Data", self);
    add_cache(cache + "1", "1", "Instruction", self);
    add_cache(cache + "2", "2", "Unified", self);
    add_cache(cache + "3", "3", "Unified", shares_third_level_with);
  }
  void add_cache(const std::string& directory, const std::string& level, const std::string& type,
                 const std::string& shared) {
    write(directory + "/level", level);
    write(directory + "/type", type);
    write(directory + "/shared_cpu_list", shared);
  }
  void one_socket() {
    write("cpu/online", "0-3");
    for (unsigned cpu = 0; cpu < 4; ++cpu) add_cpu(cpu, "0-3");
    write("node/online", "0");
    write("node/node0/cpulist", "0-3");
  }
  // Eight CPUs in two sockets; the first socket has two caches.
  void two_sockets() {
    write("cpu/online", "0-7");
    for (const unsigned cpu : {0U, 1U}) add_cpu(cpu, "0-1");
    for (const unsigned cpu : {2U, 3U}) add_cpu(cpu, "2-3");
    for (const unsigned cpu : {4U, 5U, 6U, 7U}) add_cpu(cpu, "4-7");
    write("node/online", "0-1");
    write("node/node0/cpulist", "0-3");
    write("node/node1/cpulist", "4-7");
  }
  cpu_map map() { return cpu_map(root_); }

  const std::string root_ =
      (std::filesystem::temp_directory_path() / ("weft-cpu-map-" + std::to_string(::getpid())))
          .string();
};

TEST_F(CpuMap, OneSocketIsFlat) {
  one_socket();
  EXPECT_TRUE(map().is_flat());
  EXPECT_EQ(map().between(0, 3), nearness::same_cache);
}

TEST_F(CpuMap, TwoSocketsAreTold) {
  two_sockets();
  const cpu_map m = map();
  EXPECT_FALSE(m.is_flat());
  EXPECT_EQ(m.between(0, 1), nearness::same_cache);
  EXPECT_EQ(m.between(0, 2), nearness::same_node);
  EXPECT_EQ(m.between(0, 4), nearness::elsewhere);
  EXPECT_EQ(m.between(7, 4), nearness::same_cache);
  EXPECT_EQ(m.between(7, 3), nearness::elsewhere);
}

TEST_F(CpuMap, MachineWithoutAThirdLevelUsesItsLastOne) {
  write("cpu/online", "0-3");
  for (unsigned cpu = 0; cpu < 4; ++cpu) {
    add_cache("cpu/cpu" + std::to_string(cpu) + "/cache/index0", "2", "Unified",
              cpu < 2 ? "0-1" : "2-3");
  }
  EXPECT_EQ(map().between(0, 1), nearness::same_cache);
  EXPECT_EQ(map().between(0, 2), nearness::same_node);
}

TEST_F(CpuMap, WhereNothingCanBeReadIsFlat) {
  EXPECT_TRUE(map().is_flat());
  EXPECT_EQ(map().between(0, 1000), nearness::same_cache);
}

TEST_F(CpuMap, NonsenseIsFlat) {
  write("cpu/online", "0-1");
  write("cpu/cpu0/cache/index0/level", "many");
  write("cpu/cpu1/cache/index0/level", "3");
  write("cpu/cpu1/cache/index0/shared_cpu_list", "1-99999999999,x");
  write("node/online", "7-3");
  EXPECT_TRUE(map().is_flat());
}

TEST_F(CpuMap, CpusThatAreOfflineLeaveGaps) {
  write("cpu/online", "0,5");
  add_cpu(0, "0");
  add_cpu(5, "5");
  EXPECT_EQ(map().between(0, 5), nearness::same_node);
}

TEST(CpuList, ReadsWhatTheKernelWrites) {
  EXPECT_THAT(*parse_cpu_list("0-2,5,7-8"), ElementsAre(0, 1, 2, 5, 7, 8));
  EXPECT_THAT(*parse_cpu_list(""), ElementsAre());
  EXPECT_FALSE(parse_cpu_list("3-1"));
  EXPECT_FALSE(parse_cpu_list("a"));
  EXPECT_FALSE(parse_cpu_list("1,,2"));
  EXPECT_FALSE(parse_cpu_list("0-4294967295"));
}

TEST(CpuMapOfThisMachine, CanBeRead) {
  const cpu_map& m = cpu_map::of_this_machine();
  EXPECT_EQ(m.between(0, 0), nearness::same_cache);
}

std::vector<unsigned> order(const cpu_map& m, unsigned self, unsigned start) {
  std::vector<unsigned> victims;
  detail::visit_victims(
      m, self, 8, start, [](unsigned worker) { return worker; },  // worker i runs on CPU i
      [&](unsigned victim) {
        victims.push_back(victim);
        return false;
      });
  return victims;
}

TEST_F(CpuMap, ThievesLookNearFirstAndMissNobody) {
  two_sockets();
  EXPECT_THAT(order(map(), 0, 5), ElementsAre(1, 2, 3, 5, 6, 7, 4));
  EXPECT_THAT(order(map(), 6, 0), ElementsAre(4, 5, 7, 0, 1, 2, 3));
}

TEST_F(CpuMap, OnAFlatMachineThievesGoRound) {
  EXPECT_THAT(order(map(), 2, 6), ElementsAre(6, 7, 0, 1, 3, 4, 5));
}

TEST_F(CpuMap, ThievesStopAtTheFirstThatHasSomething) {
  two_sockets();
  int visited = 0;
  detail::visit_victims(
      map(), 0, 8, 0, [](unsigned worker) { return worker; },
      [&](unsigned) { return ++visited == 2; });
  EXPECT_EQ(visited, 2);
}

}  // namespace
}  // namespace weft::base
