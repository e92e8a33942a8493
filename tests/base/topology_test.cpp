#include <weft/base/topology.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::TestWithParam;
using testing::Values;
using weft::base::cpu_limit;
using weft::base::parse_worker_count;
using weft::base::read_cpu_limit;
using weft::base::system_root;
using weft::base::usable_cpus;

// A machine whose affinity mask allows `Count` CPUs.
template <std::size_t Count>
int allow_cpus(std::size_t bytes, cpu_set_t* mask) {
  if (bytes * 8 < Count) {
    errno = EINVAL;
    return -1;
  }
  for (std::size_t cpu = 0; cpu < Count; ++cpu) CPU_SET_S(cpu, bytes, mask);
  return 0;
}

// A file tree that stands for a machine with 64 CPUs.
class Topology : public testing::Test {
 public:
  Topology() {
    std::string name = (fs::temp_directory_path() / "weft-topology-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "cannot create " + name);
    }
    root_ = name;
  }
  ~Topology() override { fs::remove_all(root_); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

 protected:
  void write(const std::string& path, std::string_view text) {
    const fs::path full = root_ / path;
    fs::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }

  void write_v1_quota(const std::string& directory, std::string_view quota,
                      std::string_view period = "100000") {
    write(directory + "/cpu.cfs_quota_us", std::string(quota) + "\n");
    write(directory + "/cpu.cfs_period_us", std::string(period) + "\n");
  }

  [[nodiscard]] system_root machine() const {
    return {.root = root_.string(), .affinity = allow_cpus<64>};
  }
  [[nodiscard]] cpu_limit limit() const { return read_cpu_limit(machine()); }
  [[nodiscard]] unsigned cpus() const { return usable_cpus(machine()); }

  // The process is in /a/b/c of a v2 hierarchy.
  void make_v2() {
    write("proc/self/cgroup", "0::/a/b/c\n");
    write("proc/self/mountinfo",
          "22 1 0:20 / /proc rw - proc proc rw\n"
          "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }

  // The process is in /a/b/c of the v1 hierarchy of cpu, and elsewhere in the other hierarchies.
  void make_v1() {
    write("proc/self/cgroup",
          "5:memory:/m\n4:cpuset:/s\n3:cpu,cpuacct:/a/b/c\n1:name=systemd:/x\n");
    write("proc/self/mountinfo",
          "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
          "32 31 0:29 / /sys/fs/cgroup/cpuset rw shared:9 - cgroup cgroup rw,cpuset\n"
          "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
          "34 31 0:31 / /sys/fs/cgroup/memory rw shared:11 - cgroup cgroup rw,memory\n");
  }

 private:
  fs::path root_;
};

const std::string v1_mount = "sys/fs/cgroup/cpu,cpuacct";
const std::string v2_mount = "sys/fs/cgroup";

// --- Affinity ----------------------------------------------------------------------------------

TEST_F(Topology, WithoutCgroupsTheAffinityMaskDecides) {
  EXPECT_EQ(cpus(), 64U);
  EXPECT_EQ(limit().quota, std::nullopt);
}

TEST_F(Topology, MasksOfMoreThan1024CpusAreCounted) {
  system_root big = machine();
  big.affinity = allow_cpus<5000>;
  EXPECT_EQ(usable_cpus(big), 5000U);
}

TEST_F(Topology, AnUnreadableMaskFallsBackToTheCpusOnline) {
  system_root sandbox = machine();
  sandbox.affinity = [](std::size_t, cpu_set_t*) {
    errno = EPERM;
    return -1;
  };
  EXPECT_EQ(usable_cpus(sandbox), static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN)));
}

TEST_F(Topology, AMaskThatNeverFitsEndsInsteadOfGrowingForever) {
  system_root broken = machine();
  broken.affinity = [](std::size_t, cpu_set_t*) {
    errno = EINVAL;
    return -1;
  };
  EXPECT_GE(usable_cpus(broken), 1U);
}

TEST_F(Topology, AnEmptyMaskCountsAsOneCpu) {
  system_root empty = machine();
  empty.affinity = allow_cpus<0>;
  EXPECT_EQ(usable_cpus(empty), 1U);
}

// --- cgroup v2 ---------------------------------------------------------------------------------

TEST_F(Topology, V2QuotaOfTheOwnGroupLimits) {
  make_v2();
  write(v2_mount + "/a/b/c/cpu.max", "300000 100000\n");
  EXPECT_EQ(cpus(), 3U);
}

TEST_F(Topology, V2FractionIsRoundedUp) {
  make_v2();
  write(v2_mount + "/a/b/c/cpu.max", "150000 100000\n");
  EXPECT_EQ(cpus(), 2U);
}

TEST_F(Topology, V2QuotaBelowOneCpuIsOne) {
  make_v2();
  write(v2_mount + "/a/b/c/cpu.max", "1000 100000\n");
  EXPECT_EQ(cpus(), 1U);
}

TEST_F(Topology, V2TightestQuotaMayBeInTheMiddle) {
  make_v2();
  write(v2_mount + "/a/cpu.max", "1600000 100000\n");
  write(v2_mount + "/a/b/cpu.max", "200000 100000\n");
  write(v2_mount + "/a/b/c/cpu.max", "max 100000\n");
  EXPECT_EQ(cpus(), 2U);
}

TEST_F(Topology, V2ParentLimitsWhenTheOwnDirectoryIsNotVisible) {
  make_v2();
  write(v2_mount + "/a/cpu.max", "500000 100000\n");
  EXPECT_EQ(cpus(), 5U);
}

TEST_F(Topology, V2QuotaOfASiblingDoesNotLimit) {
  make_v2();
  write(v2_mount + "/a/other/cpu.max", "100000 100000\n");
  EXPECT_EQ(cpus(), 64U);
}

TEST_F(Topology, V2ContainerWithItsOwnNamespaceReadsTheMountPoint) {
  write("proc/self/cgroup", "0::/\n");
  write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write(v2_mount + "/cpu.max", "400000 100000\n");
  EXPECT_EQ(cpus(), 4U);
}

TEST_F(Topology, V2PathOutsideTheNamespaceFallsBackToTheMountPoint) {
  write("proc/self/cgroup", "0::/../../other\n");
  write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write(v2_mount + "/cpu.max", "400000 100000\n");
  write("other/cpu.max", "100000 100000\n");
  EXPECT_EQ(cpus(), 4U);
}

TEST_F(Topology, PathsWithSpacesAndColonsAreFollowed) {
  write("proc/self/cgroup", "0::/my app:1\n");
  write("proc/self/mountinfo", "30 23 0:26 / /mnt/c\\040g rw - cgroup2 cgroup rw\n");
  write("mnt/c g/my app:1/cpu.max", "200000 100000\n");
  EXPECT_EQ(cpus(), 2U);
}

// --- cgroup v1 ---------------------------------------------------------------------------------

TEST_F(Topology, V1QuotaOfTheOwnGroupLimits) {
  make_v1();
  write_v1_quota(v1_mount + "/a/b/c", "250000");
  EXPECT_EQ(cpus(), 3U);
}

TEST_F(Topology, V1PeriodOtherThanTheDefaultCounts) {
  make_v1();
  write_v1_quota(v1_mount + "/a/b/c", "40000", "10000");
  EXPECT_EQ(cpus(), 4U);
}

TEST_F(Topology, V1TightestQuotaMayBeInTheMiddle) {
  make_v1();
  write_v1_quota(v1_mount, "-1");
  write_v1_quota(v1_mount + "/a", "800000");
  write_v1_quota(v1_mount + "/a/b", "200000");
  write_v1_quota(v1_mount + "/a/b/c", "400000");
  EXPECT_EQ(cpus(), 2U);
}

TEST_F(Topology, V1MinusOneIsNoLimit) {
  make_v1();
  write_v1_quota(v1_mount + "/a/b/c", "-1");
  EXPECT_EQ(limit().quota, std::nullopt);
}

TEST_F(Topology, V1ContainerPathIsReadRelativeToTheRootOfTheMount) {
  write("proc/self/cgroup", "3:cpu,cpuacct:/docker/1234/worker\n");
  write("proc/self/mountinfo",
        "33 31 0:30 /docker/1234 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  write_v1_quota(v1_mount, "600000");
  write_v1_quota(v1_mount + "/worker", "200000");
  EXPECT_EQ(cpus(), 2U);
}

TEST_F(Topology, V1ContainerWhosePathTheMountDoesNotShowReadsTheMountPoint) {
  write("proc/self/cgroup", "3:cpu,cpuacct:/kubepods/pod9/abc\n");
  write("proc/self/mountinfo",
        "33 31 0:30 /docker/1234 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  write_v1_quota(v1_mount, "300000");
  EXPECT_EQ(cpus(), 3U);
}

TEST_F(Topology, AMountRootThatOnlySharesAPrefixOfTheNameIsNotAnAncestor) {
  write("proc/self/cgroup", "3:cpu:/docker/12345\n");
  write("proc/self/mountinfo",
        "33 31 0:30 /docker/123 /mnt/other rw - cgroup cgroup rw,cpu\n"
        "34 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  write_v1_quota("mnt/other", "100000");
  write_v1_quota("sys/fs/cgroup/cpu/docker/12345", "500000");
  EXPECT_EQ(cpus(), 5U);
}

TEST_F(Topology, OfTwoMountsTheOneThatShowsMoreAncestorsIsRead) {
  write("proc/self/cgroup", "3:cpu:/a/b\n");
  write("proc/self/mountinfo",
        "33 31 0:30 /a/b /mnt/inner rw - cgroup cgroup rw,cpu\n"
        "34 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  write_v1_quota("sys/fs/cgroup/cpu/a", "200000");
  write_v1_quota("sys/fs/cgroup/cpu/a/b", "400000");
  EXPECT_EQ(cpus(), 2U);
}

// --- Hybrid ------------------------------------------------------------------------------------

TEST_F(Topology, HybridReadsTheQuotaWhereTheControllerIs) {
  write("proc/self/cgroup", "3:cpu,cpuacct:/a\n0::/user\n");
  write("proc/self/mountinfo",
        "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/unified/user/cgroup.procs", "1\n");
  write_v1_quota(v1_mount + "/a", "700000");
  EXPECT_EQ(cpus(), 7U);
}

// --- Nonsense ----------------------------------------------------------------------------------

class NonsenseQuota : public Topology, public testing::WithParamInterface<const char*> {};

TEST_P(NonsenseQuota, LimitsNothingInV2) {
  make_v2();
  write(v2_mount + "/a/b/c/cpu.max", GetParam());
  EXPECT_EQ(limit().quota, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Files, NonsenseQuota,
                         Values("", "\n", "max 100000\n", "max\n", "100000\n", "100000 0\n",
                                "0 100000\n", "-1 100000\n", "100000 -5\n", "abc def\n",
                                "100000 100000 7\n", "1e5 100000\n", " 100000 100000\n",
                                "99999999999999999999999 100000\n", "0x10 100000\n"));

TEST_F(Topology, HugeQuotaIsNoLimit) {
  make_v2();
  write(v2_mount + "/a/b/c/cpu.max", "9223372036854775807 1\n");
  EXPECT_EQ(cpus(), 64U);
}

TEST_F(Topology, V1QuotaWithoutAUsablePeriodLimitsNothing) {
  make_v1();
  write(v1_mount + "/a/b/c/cpu.cfs_quota_us", "100000\n");
  EXPECT_EQ(limit().quota, std::nullopt);
  write(v1_mount + "/a/b/c/cpu.cfs_period_us", "0\n");
  EXPECT_EQ(limit().quota, std::nullopt);
}

TEST_F(Topology, MangledProcFilesLimitNothing) {
  write("proc/self/cgroup", ":::\n0:\n\n0\n::\nx:cpu\n");
  write("proc/self/mountinfo", "-\n1 2 3 - cgroup2\n\n30 23 0:26 / /sys rw -\n\\ - \\\n");
  write("sys/cpu.max", "100000 100000\n");
  EXPECT_EQ(cpus(), 64U);
}

TEST_F(Topology, MountsWithoutACgroupFileLimitNothing) {
  make_v2();
  write("proc/self/cgroup", "");
  write(v2_mount + "/cpu.max", "100000 100000\n");
  EXPECT_EQ(cpus(), 64U);
}

// --- The running system ------------------------------------------------------------------------

// The usable CPUs of a child process after `prepare`; -1 when `prepare` fails.
template <class Prepare>
int cpus_in_child(Prepare prepare) {
  const pid_t child = fork();
  if (child == 0) _exit(prepare() ? static_cast<int>(std::min(usable_cpus(), 250U)) : 255);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

TEST(TopologyLive, NarrowedAffinityIsSeen) {
  const int cpus = cpus_in_child([] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) return false;
    int keep = 0;
    while (!CPU_ISSET(keep, &mask)) ++keep;
    CPU_ZERO(&mask);
    CPU_SET(keep, &mask);
    return sched_setaffinity(0, sizeof mask, &mask) == 0;
  });
  EXPECT_EQ(cpus, 1);
}

TEST(TopologyLive, V1QuotaOfARealGroupIsSeen) {
  const fs::path group =
      fs::path("/sys/fs/cgroup/cpu") / ("weft-topology-test-" + std::to_string(getpid()));
  if (mkdir(group.c_str(), 0755) != 0) {
    GTEST_SKIP() << "needs a writable cgroup v1 hierarchy at /sys/fs/cgroup/cpu";
  }
  const auto put = [&](const char* file, const std::string& text) {
    return static_cast<bool>(std::ofstream(group / file) << text << std::flush);
  };
  const bool limited = put("cpu.cfs_period_us", "100000") && put("cpu.cfs_quota_us", "150000");
  const int cpus = cpus_in_child([&] { return put("cgroup.procs", std::to_string(getpid())); });
  EXPECT_EQ(rmdir(group.c_str()), 0);
  ASSERT_TRUE(limited);
  EXPECT_EQ(cpus, static_cast<int>(std::min(2U, read_cpu_limit().affinity)));
}

TEST(TopologyLive, ThisMachineHasAtLeastOneCpu) { EXPECT_GE(usable_cpus(), 1U); }

// --- WEFT_WORKERS ------------------------------------------------------------------------------

TEST(WorkerCount, WholeNumbersWithinTheLimitsAreAccepted) {
  EXPECT_EQ(parse_worker_count("1", 1024).count, 1U);
  EXPECT_EQ(parse_worker_count("4", 1024).count, 4U);
  EXPECT_EQ(parse_worker_count("1024", 1024).count, 1024U);
  EXPECT_EQ(parse_worker_count("4", 1024).error, "");
}

class BadWorkerCount : public TestWithParam<const char*> {};

TEST_P(BadWorkerCount, IsRefusedWithTheTextAndTheLimits) {
  const auto parsed = parse_worker_count(GetParam(), 1024);
  EXPECT_EQ(parsed.count, std::nullopt);
  EXPECT_THAT(parsed.error, HasSubstr("\"" + std::string(GetParam()) + "\""));
  EXPECT_THAT(parsed.error, HasSubstr("between 1 and 1024"));
}

INSTANTIATE_TEST_SUITE_P(Texts, BadWorkerCount,
                         Values("", " ", "0", "1025", "-1", "+4", " 4", "4 ", "4.0", "4x", "abc",
                                "0x4", "99999999999999999999"));

TEST(WorkerCount, MessageSaysWhatIsWrongAndWhatToDo) {
  EXPECT_EQ(parse_worker_count("abc", 1024).error,
            "WEFT_WORKERS=\"abc\" is not a whole number between 1 and 1024; unset it or set e.g. "
            "WEFT_WORKERS=4");
}

TEST(WorkerCount, MessageSuggestsACountThatIsAllowed) {
  EXPECT_THAT(parse_worker_count("3", 2).error, HasSubstr("WEFT_WORKERS=2"));
}

}  // namespace
