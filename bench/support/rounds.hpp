#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "clock.hpp"
#include "options.hpp"
#include "report.hpp"

namespace bench {

// What times are reported in.
struct time_unit {
  const char* name;
  double ns;
};
inline constexpr time_unit milliseconds{"ms", 1e6};
inline constexpr time_unit microseconds{"us", 1e3};
inline constexpr time_unit nanoseconds{"ns", 1};

// The one of a problem's instances that the driver asks for. An instance has a `name`.
template <class Instances>
auto chosen_instance(const options& with, const Instances& instances) {
  const auto found = std::ranges::find(instances, with.instance, [](auto& i) { return i.name; });
  if (found == instances.end()) fail("--instance must name an instance of this problem");
  return *found;
}

// Inputs that take long to go through are ten times smaller in a quick run. The others stay: their
// size is what they are about.
inline std::size_t scaled(const options& with, std::size_t size) {
  return with.quick && size >= 1'000'000 ? size / 10 : size;
}

inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::align_val_t page_alignment{page_bytes};

struct aligned_delete {
  void operator()(void* memory) const { ::operator delete[](memory, page_alignment); }
};

// An array of plain numbers, not initialised, that begins at a page. Large ones get huge pages
// where the system has them: otherwise most of a process's time goes into its first touch.
template <class T>
using number_array = std::unique_ptr<T[], aligned_delete>;

template <class T>
number_array<T> make_numbers(std::size_t size) {
  number_array<T> numbers(new (page_alignment) T[size]);
  madvise(numbers.get(), size * sizeof(T), MADV_HUGEPAGE);  // Without it all works the same.
  return numbers;
}

// Two of them, an input and an output, in one piece. They begin half a page apart: where they start
// at the same offset in a page, a load seems to depend on the store before it, and chance would
// decide which program is slowed down.
template <class T>
class number_pair {
 public:
  explicit number_pair(std::size_t size)
      : memory_(make_numbers<T>(out_at(size) + size)), out_(memory_.get() + out_at(size)) {}

  T* in() const { return memory_.get(); }
  T* out() const { return out_; }

 private:
  static constexpr std::size_t page = page_bytes / sizeof(T);
  static constexpr std::size_t out_at(std::size_t size) {
    return (size + page - 1) / page * page + page / 2;
  }

  number_array<T> memory_;
  T* out_;
};

// Calls round(), which returns the nanoseconds that its timed part took, for 60 ms (quick) or 120
// ms: at least once, at most 25 times.
template <class Round>
std::vector<double> repeat_rounds(const options& with, Round&& round) {
  constexpr std::size_t rounds_max = 25;
  const auto stop_at = now_ns() + (with.quick ? 60'000'000 : 120'000'000);
  std::vector<double> samples_ns;
  do samples_ns.push_back(round());
  while (now_ns() < stop_at && samples_ns.size() < rounds_max);
  return samples_ns;
}

// Times call(), which can be repeated as it is. Warms up for at least 30 ms and finds out how many
// calls back to back take a millisecond; a sample is the time of one call in a batch of that many.
template <class Call>
std::vector<double> time_calls(const options& with, Call&& call) {
  std::int64_t calls = 1;
  const auto time_batch = [&] {
    const auto begin = now_ns();
    for (std::int64_t i = 0; i < calls; ++i) call();
    return static_cast<double>(now_ns() - begin);
  };
  const auto warm_until = now_ns() + 30'000'000;
  do {
    if (time_batch() < 1e6) calls *= 2;
  } while (now_ns() < warm_until);
  auto samples_ns = repeat_rounds(with, time_batch);
  for (double& sample : samples_ns) sample /= static_cast<double>(calls);
  return samples_ns;
}

inline void emit_times(const char* metric, time_unit unit, std::vector<double> samples_ns) {
  for (double& sample : samples_ns) sample /= unit.ns;
  emit(metric, unit.name, samples_ns);
}

}  // namespace bench
