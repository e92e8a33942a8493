// How long an executor with the sizing policy `throughput` takes to get done 95 % of what the best
// fixed size does.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ranges>
#include <string_view>
#include <thread>
#include <vector>

#include "../../support/options.hpp"
#include "../../support/report.hpp"
#include "../../support/spin.hpp"

#include <weft/weft.hpp>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

// Ten milliseconds of computing and ninety of waiting; computing alone; going through memory.
void compute(const bench::options& with) { bench::spin_rounds(bench::rounds_for_us(with, 10'000)); }
void mostly_wait(const bench::options& with) {
  compute(with);
  std::this_thread::sleep_for(90ms);
}
void read_memory(const bench::options&) {
  static const std::vector<std::uint64_t> numbers(std::size_t{1} << 25, 1);  // 256 MB
  static std::atomic<std::size_t> next = 0;
  constexpr std::size_t piece = std::size_t{1} << 20;
  const std::size_t begin = next.fetch_add(piece) % numbers.size();
  auto sum = std::accumulate(numbers.begin() + static_cast<std::ptrdiff_t>(begin),
                             numbers.begin() + static_cast<std::ptrdiff_t>(begin + piece),
                             std::uint64_t{0});
  bench::opaque(sum);
}

struct instance {
  std::string_view name;
  void (*item)(const bench::options&);
};
constexpr std::array instances{instance{"cpu", compute}, instance{"wait", mostly_wait},
                               instance{"memory", read_memory}};

// When each result came, in seconds from the beginning.
std::vector<double> run(weft::executor& ex, const instance& what, const bench::options& with,
                        std::chrono::milliseconds time) {
  std::vector<double> times;
  const auto begin = clock_type::now();
  const auto f = [&](int) { what.item(with); };
  for (auto&& r : ex.map_unordered(f, std::views::iota(0), {.look_ahead = 16 * ex.max_workers()})) {
    static_cast<void>(r);
    const auto passed = clock_type::now() - begin;
    times.push_back(std::chrono::duration<double>(passed).count());
    if (passed >= time) break;
  }
  return times;
}

double rate_between(const std::vector<double>& times, double from, double to) {
  const auto first = std::ranges::lower_bound(times, from);
  const auto last = std::ranges::lower_bound(times, to);
  return static_cast<double>(last - first) / (to - from);
}

double best_fixed(const instance& what, const bench::options& with) {
  double best = 0;
  for (const unsigned workers : {1U, 2U, 4U, 12U, 20U, 32U}) {
    if (workers == 1) {  // with one it would run in this thread
      weft::pool one({.workers = 1});
      weft::executor ex(one);
      best = std::max(best, rate_between(run(ex, what, with, 2000ms), 0.5, 2));
      continue;
    }
    weft::executor ex({.max_workers = workers, .sizing = weft::sizing_policy::fixed});
    best = std::max(best, rate_between(run(ex, what, with, 2000ms), 0.5, 2));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const auto found = std::ranges::find(instances, options.instance, &instance::name);
  if (found == instances.end()) bench::fail("--instance must be cpu, wait or memory");
  found->item(options);  // touches the memory
  const double best = best_fixed(*found, options);
  weft::executor ex({.max_workers = 32});
  const auto times = run(ex, *found, options, 20'000ms);
  // The first moment from which a second gets that much done.
  double reached = 20;
  for (double t = 0; t + 1 <= 19; t += 0.1) {
    if (rate_between(times, t, t + 1) >= 0.95 * best) {
      reached = t;
      break;
    }
  }
  bench::emit("reach", "s", reached);
  bench::emit("share", "ratio", rate_between(times, 10, 20) / best);
  bench::emit("workers", "count", ex.current_workers());
}
