#include <weft/base/cgroup.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/base/cpu_quota.hpp>

namespace weft::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Which mount shows which path is tested with the quotas in topology_test.
class Cgroup : public ::testing::Test {
 protected:
  Cgroup() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-cgroup-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "cannot create " + name);
    }
    root_ = name;
  }
  ~Cgroup() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, std::string_view text) const {
    const std::filesystem::path full = root_ + "/" + file;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  // Directories below the root, each after the version of its hierarchy.
  [[nodiscard]] std::vector<std::string> groups(std::string_view controller) const {
    std::vector<std::string> found;
    for (const cgroup& group : own_cgroups(root_ + "/", controller)) {
      const char* const version = group.version == cgroup_version::v1 ? "v1 " : "v2 ";
      found.push_back(version + group.directory.substr(root_.size()));
    }
    return found;
  }
  void make_hybrid() const {
    write("proc/self/cgroup", "4:memory:/app/job\n3:cpu,cpuacct:/app\n0::/user\n");
    write("proc/self/mountinfo",
          "33 31 0:30 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
          "35 31 0:32 / /cg/memory rw - cgroup cgroup rw,memory\n"
          "41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n");
  }

  std::string root_;
};

TEST_F(Cgroup, V2ListsTheOwnGroupFirstAndTheMountPointLast) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  EXPECT_THAT(groups("cpu"), ElementsAre("v2 /cg/a/b", "v2 /cg/a", "v2 /cg"));
  EXPECT_EQ(groups("memory"), groups("cpu"));
}

TEST_F(Cgroup, V1HasAHierarchyForEachController) {
  make_hybrid();
  EXPECT_THAT(groups("memory"),
              ElementsAre("v1 /cg/memory/app/job", "v1 /cg/memory/app", "v1 /cg/memory",
                          "v2 /cg/unified/user", "v2 /cg/unified"));
  EXPECT_THAT(groups("cpuacct"), ElementsAre("v1 /cg/cpu,cpuacct/app", "v1 /cg/cpu,cpuacct",
                                             "v2 /cg/unified/user", "v2 /cg/unified"));
}

TEST_F(Cgroup, AControllerThatV1DoesNotHaveMayBeInV2) {
  make_hybrid();
  EXPECT_THAT(groups("io"), ElementsAre("v2 /cg/unified/user", "v2 /cg/unified"));
}

TEST_F(Cgroup, PathsAreToldBelowTheMountPoint) {
  make_hybrid();
  const auto memory = own_cgroups(root_, "memory");
  ASSERT_GE(memory.size(), 3U);
  EXPECT_EQ(memory[0].path, "/app/job");
  EXPECT_EQ(memory[1].path, "/app");
  EXPECT_EQ(memory[2].path, "");
}

TEST_F(Cgroup, WithoutProcThereAreNoGroups) { EXPECT_THAT(groups("cpu"), IsEmpty()); }

// --- Quotas ------------------------------------------------------------------------------------

TEST_F(Cgroup, QuotasAreExactAndTheNearestComesFirst) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  write("cg/a/cpu.max", "50000 100000\n");
  write("cg/a/b/cpu.max", "150000 100000\n");
  const auto quotas = read_cpu_quotas(root_);
  ASSERT_EQ(quotas.size(), 2U);
  EXPECT_DOUBLE_EQ(quotas[0].cpus(), 1.5);
  EXPECT_EQ(quotas[0].whole_cpus(), 2U);
  EXPECT_EQ(quotas[0].group.path, "/a/b");
  EXPECT_EQ(quotas[0].period, std::chrono::milliseconds(100));
  ASSERT_NE(tightest(quotas), nullptr);
  EXPECT_DOUBLE_EQ(tightest(quotas)->cpus(), 0.5);
  EXPECT_EQ(tightest(quotas)->group.path, "/a");
}

TEST_F(Cgroup, WithoutQuotasNoneIsTheTightest) { EXPECT_EQ(tightest({}), nullptr); }

TEST(CgroupLive, OwnGroupsOfEitherVersionEndAtAMountPoint) {
  for (const cgroup& group : own_cgroups("/", "memory")) {
    EXPECT_TRUE(group.directory.ends_with(group.path)) << group.directory;
    if (group.path.empty()) {
      EXPECT_TRUE(std::filesystem::exists(group.directory + "/cgroup.procs")) << group.directory;
    }
  }
}

}  // namespace
}  // namespace weft::base
