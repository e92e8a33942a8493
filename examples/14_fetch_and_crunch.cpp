// What waits and what computes, each where it belongs: requests stay in the I/O lane, the work on
// what they bring runs on the cores, and a call that sleeps holds up neither.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <weft/weft.hpp>

using namespace std::chrono_literals;

namespace {

weft::task<std::vector<std::uint32_t>> fetch(std::uint32_t page) {
  co_await weft::sleep_for(2ms);  // stands for a request
  std::vector<std::uint32_t> samples(10'000);
  std::iota(samples.begin(), samples.end(), page);
  co_return samples;
}

// [readme]
weft::task<std::uint64_t> process(weft::hybrid_scheduler& hs, std::uint32_t page) {
  std::vector<std::uint32_t> samples = co_await fetch(page);  // in the I/O lane
  co_await hs.cpu();                                          // from here on, on the cores
  co_return weft::parallel_reduce(samples, std::uint64_t{0}, std::plus<>{},
                                  [](std::uint64_t x) { return x * x; });
}
// [/readme]

weft::task<std::uint64_t> process_all(weft::hybrid_scheduler& hs) {
  std::vector<weft::task<std::uint64_t>> pages;
  pages.reserve(20);
  for (std::uint32_t page = 0; page < 20; ++page) pages.push_back(process(hs, page));
  std::uint64_t sum = 0;
  for (const std::uint64_t part : co_await weft::when_all(std::move(pages))) sum += part;
  co_return sum;
}

}  // namespace

int main() {
  weft::hybrid_scheduler hs;
  auto sum = hs.spawn(process_all(hs), {.name = "process_all"});
  auto version = hs.spawn_blocking([] {
    std::string word;
    std::ifstream("/proc/version") >> word;  // may sleep: not for the other lanes
    return word;
  });
  std::printf("sum of squares: %llu\n", static_cast<unsigned long long>(sum.get()));
  std::printf("meanwhile read: %s\n", version.get().c_str());
}
