#pragma once

#include <atomic>
#include <vector>

#include "../support/clock.hpp"
#include "../support/options.hpp"
#include "../support/report.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// What a stolen task costs, seen through the public interface: one worker spawns a batch, then
// spins without helping until the others have taken and run all of it. Only the tasks left when the
// spawning ends are counted, and only the time from there. Two threads: one victim, one thief. More
// threads: several thieves contend for one victim.
namespace steal {

inline void pause() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

template <class Runtime>
void measure(const bench::options& with, Runtime& runtime) {
  if (with.threads < 2) bench::skip("a thief needs a second thread");
  constexpr int batch_size = 1000;
  const int batches = with.quick ? 60 : 200;
  std::vector<double> samples;
  for (int batch = 0; batch < batches; ++batch) {
    alignas(64) std::atomic<int> executed = 0;
    runtime.scope([&](auto spawn) {
      for (int i = 0; i < batch_size; ++i) spawn([&executed] { executed.fetch_add(1); });
      const int left = batch_size - executed.load();
      const auto begin = bench::now_ns();
      while (executed.load() != batch_size) pause();
      const auto elapsed_ns = static_cast<double>(bench::now_ns() - begin);
      if (left > batch_size / 10) samples.push_back(elapsed_ns / left);
    });
  }
  if (samples.empty()) bench::skip("the thieves keep up with the victim: nothing left to measure");
  bench::emit("time", "ns", bench::median(samples));
}

}  // namespace steal
