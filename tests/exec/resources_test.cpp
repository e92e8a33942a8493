// What an executor costs, and how its size follows what the machine says.

#include <weft/exec/executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <latch>
#include <mutex>
#include <ranges>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <support/live_threads.hpp>
#include <support/resident_memory.hpp>
#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using weft::test::live_threads;
using weft::test::resident_kib;

constexpr auto fixed = weft::sizing_policy::fixed;

std::size_t open_files() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

TEST(Memory, TenMillionItemsRunInConstantSpace) {
  if (weft::test::under_sanitizer) GTEST_SKIP() << "sanitizers keep freed memory";
  const weft::test::watchdog guard(300s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  std::size_t at_first_million = 0;
  long expected = 0;
  bool in_order = true;
  for (auto&& r :
       ex.map([](long i) { return i; }, std::views::iota(0L, 10'000'000L), {.look_ahead = 1024})) {
    in_order = in_order && r == expected;
    if (++expected == 1'000'000) at_first_million = resident_kib();
  }
  EXPECT_TRUE(in_order);
  EXPECT_EQ(expected, 10'000'000);
  EXPECT_LT(resident_kib(), at_first_million + 1024);
}

TEST(Lifecycle, AThousandExecutorsLeakNothing) {
  const weft::test::watchdog guard(300s);
  const auto live = [](int i) {
    weft::executor ex({.max_workers = 3});
    int sum = 0;
    for (auto&& r : ex.map([](int x) { return x + 1; }, std::views::iota(0, 20))) sum += r;
    EXPECT_EQ(sum + ex.submit([i] { return i; }).get(), 210 + i);
  };
  for (int i = 0; i < 50; ++i) live(i);
  const std::size_t threads = live_threads();
  const std::size_t files = open_files();
  const std::size_t memory = resident_kib();
  for (int i = 0; i < weft::test::rounds(1000); ++i) live(i);
  EXPECT_EQ(live_threads(), threads);
  EXPECT_EQ(open_files(), files);
  if (!weft::test::under_sanitizer) {
    EXPECT_LT(resident_kib(), memory + 1024);
  }
}

// A machine of files.
class Machine : public testing::Test {
 protected:
  Machine() {
    std::string name = (fs::temp_directory_path() / "weft-machine-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "cannot create " + name);
    }
    root_ = name;
  }
  ~Machine() override { fs::remove_all(root_); }

  void write(const std::string& path, std::string_view text) {
    fs::create_directories((root_ / path).parent_path());
    // Renamed into place: whoever reads meanwhile sees the old text or the new.
    const fs::path full = root_ / path;
    std::ofstream(full.string() + ".new") << text;
    fs::rename(full.string() + ".new", full);
  }
  void set_memory(int percent_used) {
    write("proc/meminfo", "MemTotal: 1000000 kB\nMemFree: 1 kB\nMemAvailable: " +
                              std::to_string((100 - percent_used) * 10'000) + " kB\n");
  }

  // Options of an executor on this machine that looks around all the time.
  weft::executor_options options() {
    return {.max_workers = 4,
            .sizing = fixed,
            .monitor_interval = 1ms,
            .scale_check_interval = 1ms,
            .on_scale =
                [this](const weft::scaling_event& e) {
                  const std::lock_guard lock(mutex_);
                  events_.push_back(e);
                  changed_.notify_all();
                },
            .system_root = root_.string()};
  }
  // Waits until an event says so.
  void await(std::string_view text) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return std::ranges::any_of(
          events_, [&](const auto& e) { return e.reason.find(text) != std::string::npos; });
    });
  }

  weft::test::watchdog guard_{120s};
  fs::path root_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<weft::scaling_event> events_;
};

// Runs tasks that wait for each other as long as several run: how many did at once.
int most_at_once(weft::executor& ex, int tasks) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::vector<weft::future<void>> all;
  for (int i = 0; i < tasks; ++i) {
    all.push_back(ex.submit([&] {
      const int now = ++running;
      int seen = most;
      while (seen < now && !most.compare_exchange_weak(seen, now)) {
      }
      for (int spin = 0; spin < 1000; ++spin) std::this_thread::yield();
      --running;
    }));
  }
  for (auto& f : all) f.get();
  return most;
}

TEST_F(Machine, ShortOfMemoryBeginsTasksOneAtATime) {
  set_memory(50);
  auto patient = options();
  patient.scale_check_interval = 1h;  // a slow task is no reason to admit another
  weft::executor ex(patient);
  std::latch release(1);
  auto holder = ex.submit([&] { release.wait(); });  // keeps the executor looking
  set_memory(97);
  await("main memory is 97 % used, above 90 %");
  release.count_down();
  holder.get();
  EXPECT_EQ(most_at_once(ex, 12), 1);
  EXPECT_EQ(ex.current_workers(), 4U);  // admission, not size
  EXPECT_THAT(ex.explain(), HasSubstr("main memory is 97 % used"));
}

TEST_F(Machine, WithMemoryBackRunsAsManyAsBefore) {
  set_memory(97);
  weft::executor ex(options());
  std::latch release(1);
  auto holder = ex.submit([&] { release.wait(); });
  await("main memory is 97 %");
  std::latch both(2);
  const auto meet = [&] { both.arrive_and_wait(); };
  set_memory(50);
  auto a = ex.submit(meet);
  auto b = ex.submit(meet);  // ends only if both run
  await("back below");
  a.get();
  b.get();
  release.count_down();
  holder.get();
}

TEST_F(Machine, TasksInsideTasksRunAlsoWhenMemoryIsShort) {
  set_memory(97);
  weft::executor ex(options());
  std::latch seen(1);
  auto outer = ex.submit([&] {
    seen.wait();
    int sum = 0;
    for (auto&& r : ex.map([](int i) { return i; }, std::views::iota(0, 50))) sum += r;
    return sum + ex.submit([] { return 1; }).get();
  });
  await("main memory is 97 %");
  std::vector<weft::future<int>> others;
  for (int i = 0; i < 8; ++i) others.push_back(ex.submit([i] { return i; }));
  seen.count_down();
  EXPECT_EQ(outer.get(), 1226);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(others[static_cast<std::size_t>(i)].get(), i);
}

// One waits for the other, and only one may begin: after a while the other may too.
TEST_F(Machine, TasksThatWaitForEachOtherEndAlsoWhenMemoryIsShort) {
  set_memory(97);
  weft::executor ex(options());
  std::latch release(1);
  auto holder = ex.submit([&] { release.wait(); });
  await("main memory is 97 %");
  std::latch both(2);
  auto a = ex.submit([&] { both.arrive_and_wait(); });
  auto b = ex.submit([&] { both.arrive_and_wait(); });
  a.get();
  b.get();
  release.count_down();
  holder.get();
}

TEST_F(Machine, AFullGpuCountsAndTheChosenOneOnly) {
  set_memory(10);
  write("sys/class/drm/card0/device/mem_info_vram_total", "1000\n");
  write("sys/class/drm/card0/device/mem_info_vram_used", "100\n");
  write("sys/class/drm/card1/device/mem_info_vram_total", "1000\n");
  write("sys/class/drm/card1/device/mem_info_vram_used", "950\n");
  {
    weft::executor ex(options());
    std::latch release(1);
    auto holder = ex.submit([&] { release.wait(); });
    await("GPU memory is 95 % used, above 85 %");
    release.count_down();
    holder.get();
  }
  events_.clear();
  auto first_only = options();
  first_only.gpu_device = 0;
  weft::executor ex(first_only);
  std::latch release(2);
  auto a = ex.submit([&] { release.arrive_and_wait(); });
  auto b = ex.submit([&] { release.arrive_and_wait(); });  // ends only if both run
  a.get();
  b.get();
  EXPECT_TRUE(ex.events().empty());
}

// Items that mostly wait: more of them at once get more done, and the executor finds out.
TEST(Sizing, GrowsForItemsThatWait) {
  const weft::test::watchdog guard(120s);
  std::mutex mutex;
  std::condition_variable grown;
  unsigned most = 0;
  weft::executor ex({.max_workers = 16,
                     .scale_check_interval = 20ms,
                     .on_scale = [&](const weft::scaling_event& e) {
                       const std::lock_guard lock(mutex);
                       most = std::max(most, e.to);
                       grown.notify_all();
                     }});
  const unsigned at_first = ex.current_workers();
  const auto wait_a_little = [&](int i) {
    std::unique_lock lock(mutex);
    grown.wait_for(lock, 2ms);
    return i;
  };
  for (auto&& r : ex.map(wait_a_little, std::views::iota(0), {.look_ahead = 200})) {
    static_cast<void>(r);
    const std::lock_guard lock(mutex);
    if (most >= 2 * at_first) break;
  }
  ASSERT_FALSE(ex.events().empty());
  EXPECT_FALSE(ex.events().front().reason.empty());

  const weft::executor_stats stats = ex.stats();
  const auto grew = [](const weft::resize_count& r) { return r.up && r.count > 0; };
  EXPECT_TRUE(std::ranges::any_of(stats.resizes, grew));
  EXPECT_EQ(stats.max_workers, 16U);
  EXPECT_GT(stats.items, 0U);
  ASSERT_TRUE(stats.pool.has_value());
  EXPECT_GT(stats.pool->executed, 0U);
}

TEST(Sizing, StatsLeaveOutAPoolThatIsNotItsOwn) {
  weft::pool pool({.workers = 2});
  weft::executor ex(pool);
  ex.submit([] {}).get();
  EXPECT_FALSE(ex.stats().pool.has_value());
  EXPECT_EQ(ex.stats().workers, 2U);
  EXPECT_TRUE(ex.stats().resizes.empty());
}

}  // namespace
