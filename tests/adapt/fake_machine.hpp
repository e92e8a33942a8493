#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <sched.h>

namespace weft::test {

// A file tree that stands for a machine, in a directory that is gone with it.
class fake_machine {
 public:
  fake_machine() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-machine-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "cannot create " + name);
    }
    root_ = name;
  }
  ~fake_machine() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  fake_machine(const fake_machine&) = delete;
  fake_machine& operator=(const fake_machine&) = delete;

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string path(const std::string& file) const { return root_ + "/" + file; }

  void write(const std::string& file, std::string_view text) const {
    const std::filesystem::path full = path(file);
    std::filesystem::create_directories(full.parent_path());
    // A new file: to overwrite one waits for the disk on some file systems.
    std::filesystem::remove(full);
    std::ofstream(full) << text;
  }
  void remove(const std::string& file) const { std::filesystem::remove_all(path(file)); }

  // Every file there is now.
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      if (entry.is_regular_file()) found.push_back(entry.path().string().substr(root_.size() + 1));
    }
    return found;
  }
  [[nodiscard]] std::string content(const std::string& file) const {
    std::ifstream in(path(file));
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  // --- /proc -------------------------------------------------------------------------------------

  // Ticks since the start; iowait, steal and the rest are zero.
  void write_ticks(unsigned long busy, unsigned long idle) const {
    write("proc/stat", "cpu  " + std::to_string(busy) + " 0 0 " + std::to_string(idle) +
                           " 0 0 0 0 0 0\ncpu0 1 0 0 1\ncpu1 1 0 0 1\nintr 12 3\n");
  }
  void write_meminfo(unsigned long total_kib, unsigned long available_kib) const {
    write("proc/meminfo",
          "MemTotal:       " + std::to_string(total_kib) +
              " kB\nMemFree:  1 kB\nMemAvailable:   " + std::to_string(available_kib) + " kB\n");
  }
  // `some` and `full` are percent, written for both averages.
  void write_pressure(const std::string& file, const std::string& some,
                      const std::string& full) const {
    const auto line = [](const std::string& kind, const std::string& percent) {
      return kind + " avg10=" + percent + " avg60=" + percent + " avg300=0.00 total=1000\n";
    };
    write(file, line("some", some) + line("full", full));
  }

  // --- Layouts -----------------------------------------------------------------------------------

  // Two CPUs, 8 GiB of which half are available, nothing waits, no limits.
  void make_bare_metal() const {
    write("proc/self/cgroup", "0::/user.slice/session-1.scope\n");
    write("proc/self/mountinfo",
          "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    write("proc/self/statm", "1000 300 200 10 0 400 0\n");
    write("proc/loadavg", "0.50 0.40 0.30 1/100 4242\n");
    write_ticks(1000, 1000);
    write_meminfo(8388608, 4194304);
    for (const char* const resource : {"cpu", "memory", "io"}) {
      write_pressure(std::string("proc/pressure/") + resource, "0.00", "0.00");
    }
  }

  // Its own namespace: the group is the mount point. 1.5 CPUs, 512 MiB.
  void make_docker_v2() const {
    make_bare_metal();
    write("proc/self/cgroup", "0::/\n");
    write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    write("sys/fs/cgroup/cgroup.events", "populated 1\nfrozen 0\n");
    write("sys/fs/cgroup/cpu.max", "150000 100000\n");
    write("sys/fs/cgroup/cpu.stat", cpu_stat_v2(0, 0, 0));
    write_group_v2("sys/fs/cgroup", {.current = 256 << 20, .max = "536870912"});
    write("sys/fs/cgroup/memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
    for (const char* const resource : {"cpu", "memory", "io"}) {
      write_pressure(std::string("sys/fs/cgroup/") + resource + ".pressure", "0.00", "0.00");
    }
  }

  // The host's names in /proc/self/cgroup, the pod's own group at the mount points. 2 CPUs, 1 GiB.
  void make_kubernetes_v1() const {
    make_bare_metal();
    const std::string pod = "/kubepods/burstable/pod7/c0ffee";
    write("proc/self/cgroup", "5:memory:" + pod + "\n3:cpu,cpuacct:" + pod + "\n");
    write("proc/self/mountinfo",
          "33 31 0:30 " + pod + " /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n" +
              "34 31 0:31 " + pod + " /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    write("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
    write("sys/fs/cgroup/cpu,cpuacct/cpuacct.usage", "0\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
    write("sys/fs/cgroup/memory/memory.usage_in_bytes", "805306368\n");
    write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 268435456\n");
    write("sys/fs/cgroup/memory/memory.oom_control",
          "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
  }

  // Controllers in v1, each mounted alone; v2 beside them has the pressure and no limits. 1 CPU.
  void make_hybrid() const {
    make_bare_metal();
    write("proc/self/cgroup", "4:memory:/app/job\n2:cpuacct:/app\n1:cpu:/app\n0::/app\n");
    write("proc/self/mountinfo",
          "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
          "33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"
          "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
          "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    write("sys/fs/cgroup/cpu/app/cpu.cfs_quota_us", "100000\n");
    write("sys/fs/cgroup/cpu/app/cpu.cfs_period_us", "100000\n");
    write("sys/fs/cgroup/cpu/app/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
    write("sys/fs/cgroup/cpuacct/app/cpuacct.usage", "0\n");
    write("sys/fs/cgroup/memory/app/job/memory.limit_in_bytes", "9223372036854771712\n");
    write("sys/fs/cgroup/memory/app/memory.limit_in_bytes", "1000\n");
    write("sys/fs/cgroup/memory/app/memory.usage_in_bytes", "700\n");
    write("sys/fs/cgroup/unified/app/cgroup.events", "populated 1\n");
    for (const char* const resource : {"cpu", "memory", "io"}) {
      write_pressure(std::string("sys/fs/cgroup/unified/app/") + resource + ".pressure", "0.00",
                     "0.00");
    }
  }

  // The process is in /a/b/c of a v2 hierarchy, without limits so far.
  void make_nested_v2() const {
    make_bare_metal();
    write("proc/self/cgroup", "0::/a/b/c\n");
  }

  // --- Files of a v2 group -----------------------------------------------------------------------

  struct group_memory {
    unsigned long current = 0;
    std::string max = "max";
    std::string high = "max";
    unsigned long inactive_file = 0;
  };
  void write_group_v2(const std::string& group, const group_memory& memory) const {
    write(group + "/memory.current", std::to_string(memory.current) + "\n");
    write(group + "/memory.max", memory.max + "\n");
    write(group + "/memory.high", memory.high + "\n");
    write(group + "/memory.stat",
          "anon 1\ninactive_anon 7\ninactive_file " + std::to_string(memory.inactive_file) + "\n");
  }

  static std::string cpu_stat_v2(unsigned long used_us, unsigned long periods,
                                 unsigned long throttled) {
    return "usage_usec " + std::to_string(used_us) + "\nuser_usec 0\nsystem_usec 0\nnr_periods " +
           std::to_string(periods) + "\nnr_throttled " + std::to_string(throttled) +
           "\nthrottled_usec 0\n";
  }

 private:
  std::string root_;
};

// An affinity mask of four CPUs.
inline int allow_four_cpus(std::size_t bytes, cpu_set_t* mask) {
  for (std::size_t cpu = 0; cpu < 4; ++cpu) CPU_SET_S(cpu, bytes, mask);
  return 0;
}

}  // namespace weft::test
