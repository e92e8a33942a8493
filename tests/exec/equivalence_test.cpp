// A map against the loop that it stands for: random programs, run both ways.

#include <weft/exec/executor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;

constexpr std::size_t never = ~std::size_t{0};

// Neither derived from std::exception nor default-constructible.
struct odd_error {
  explicit odd_error(std::size_t i) : index(i) {}
  std::size_t index;
};

[[noreturn]] void throw_at(std::size_t index) {
  switch (index % 3) {
    case 0:
      throw std::runtime_error("item " + std::to_string(index));
    case 1:
      throw std::out_of_range("item " + std::to_string(index));
    default:
      throw odd_error(index);
  }
}

// What a loop does, drawn at random.
struct program {
  std::size_t size = 0;
  std::vector<std::size_t> failing;  // calls that throw, ascending
  std::size_t read_fails = never;    // *it throws there
  std::size_t step_fails = never;    // ++it to there throws
  std::size_t break_at = never;      // the consumer breaks off after that result
  std::size_t consumer_throws = never;
  std::vector<unsigned> work;  // how long each call spins
  weft::map_options options;

  [[nodiscard]] bool fails_at(std::size_t i) const {
    return std::binary_search(failing.begin(), failing.end(), i);
  }
};

program draw(std::mt19937_64& random) {
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1));
  };
  program p;
  p.size = below(4) == 0 ? below(4) : below(80);
  for (std::size_t n = below(4); n != 0 && p.size != 0; --n) p.failing.push_back(below(p.size));
  std::sort(p.failing.begin(), p.failing.end());
  if (below(5) == 0) p.read_fails = below(p.size);
  if (below(5) == 0) p.step_fails = below(p.size) + 1;
  if (below(4) == 0) p.break_at = below(p.size);
  if (below(8) == 0) p.consumer_throws = below(p.size);
  for (std::size_t i = 0; i < p.size; ++i) {
    p.work.push_back(below(8) == 0 ? static_cast<unsigned>(below(3000)) : 0);
  }
  if (below(3) != 0) p.options.look_ahead = 1 + below(below(2) == 0 ? 4 : 100);
  if (below(3) == 0) p.options.chunk = 1 + below(10);
  if (below(6) == 0) p.options.timeout = 1h;
  return p;
}

// A single-pass range that counts how far it was read, and throws where the program says.
class source : public std::ranges::view_base {
 public:
  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = std::size_t;

    explicit iterator(source* s) : of_(s) {}
    std::size_t operator*() const {
      if (at_ == of_->p_->read_fails) throw std::domain_error("read " + std::to_string(at_));
      *of_->read_ = std::max(*of_->read_, at_ + 1);
      return at_;
    }
    iterator& operator++() {
      if (at_ + 1 == of_->p_->step_fails) throw std::domain_error("step " + std::to_string(at_));
      ++at_;
      return *this;
    }
    void operator++(int) { ++*this; }
    [[nodiscard]] bool at_end() const { return at_ >= of_->p_->size; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) { return i.at_end(); }

   private:
    source* of_;
    std::size_t at_ = 0;
  };

  source(const program& p, std::size_t& read) : p_(&p), read_(&read) {}
  iterator begin() { return iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  const program* p_;
  std::size_t* read_;
};

// How a loop went.
struct course {
  std::vector<std::size_t> results;
  std::string end = "end";
  std::size_t read = 0;  // items

  friend bool operator==(const course& a, const course& b) {
    return a.results == b.results && a.end == b.end;
  }
};

template <class Loop>
course follow(const program& p, Loop loop) {
  course c;
  struct leave {};
  const auto consume = [&](std::size_t r) {
    c.results.push_back(r);
    const std::size_t index = c.results.size() - 1;
    if (index == p.consumer_throws) throw std::length_error("consumer");
    return index != p.break_at;
  };
  try {
    loop(source(p, c.read), consume);
  } catch (const odd_error& e) {
    c.end = "odd " + std::to_string(e.index);
  } catch (const std::exception& e) {
    c.end = std::string(typeid(e).name()) + " " + e.what();
  }
  return c;
}

std::size_t compute(const program& p, std::size_t i) {
  volatile unsigned spun = 0;
  while (spun < p.work[i]) spun = spun + 1;
  if (p.fails_at(i)) throw_at(i);
  return i * i + 1;
}

// Runs one program both ways and compares.
void compare(const program& p, weft::executor& ex, std::size_t default_look_ahead) {
  const course serial = follow(p, [&](source s, const auto& consume) {
    for (auto&& i : s) {
      if (!consume(compute(p, i))) break;
    }
  });

  std::vector<std::atomic<unsigned>> calls(p.size);
  const course parallel = follow(p, [&](source s, const auto& consume) {
    const auto f = [&](std::size_t i) {
      ++calls[i];
      return compute(p, i);
    };
    for (auto&& r : ex.map(f, s, p.options)) {
      if (!consume(r)) break;
    }
  });

  ASSERT_EQ(parallel.results, serial.results);
  ASSERT_EQ(parallel.end, serial.end);

  // Where the loop stopped reading, the map may have gone on by less than its look-ahead.
  const std::size_t look_ahead = p.options.look_ahead.value_or(default_look_ahead);
  ASSERT_GE(parallel.read, serial.read);
  ASSERT_LE(parallel.read, serial.read + look_ahead - 1);
  for (std::size_t i = 0; i < p.size; ++i) {
    ASSERT_LE(calls[i], 1U) << "item " << i;
    if (i < serial.results.size()) {
      ASSERT_EQ(calls[i], 1U) << "item " << i;
    }
  }
}

// Every program that fails prints the seed that makes it again.
void compare_many(std::uint64_t first_seed, std::size_t count, weft::executor& ex,
                  std::size_t default_look_ahead) {
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint64_t seed = first_seed + n;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const program p = draw(random);
    compare(p, ex, default_look_ahead);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// 20,000 programs in all; sanitizers take fewer.
std::size_t scaled(std::size_t count) { return weft::test::under_sanitizer ? count / 10 : count; }

TEST(MapAgainstLoop, InTheCallersThread) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 1});
  compare_many(1, scaled(4000), ex, 16);
}

TEST(MapAgainstLoop, OnWorkersInAnyOrder) {
  const weft::test::watchdog guard(120s);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    weft::pool pool({.workers = 1 + static_cast<unsigned>(seed % 5), .deterministic_seed = seed});
    weft::executor ex(pool);
    compare_many(100'000 + seed * 1000, scaled(200), ex, 16 * pool.workers());
    if (HasFatalFailure()) return;
  }
}

TEST(MapAgainstLoop, OnThreads) {
  const weft::test::watchdog guard(120s);
  for (const unsigned workers : {2U, 3U, 8U, 16U}) {
    weft::executor ex({.max_workers = workers, .sizing = weft::sizing_policy::fixed});
    compare_many(200'000 + workers * 10'000, scaled(2000), ex, 16 * workers);
    if (HasFatalFailure()) return;
  }
}

// A map inside an item of the same executor.
TEST(MapAgainstLoop, NestedInAnItem) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 3, .sizing = weft::sizing_policy::fixed});
  const auto outer = [&](std::uint64_t n) {
    compare_many(300'000 + n * 100, scaled(100), ex, 48);
    return testing::Test::HasFatalFailure();
  };
  for (auto&& failed : ex.map(outer, std::views::iota(std::uint64_t{0}, std::uint64_t{5}))) {
    ASSERT_FALSE(failed);
  }
}

// Without order: the same results, and of the failures the first by index.
TEST(UnorderedMapAgainstLoop, GivesTheSameResultsAndALowestError) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 4, .sizing = weft::sizing_policy::fixed});
  for (std::uint64_t seed = 400'000; seed < 400'000 + scaled(2000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    program p = draw(random);
    p.break_at = p.consumer_throws = p.read_fails = p.step_fails = never;
    std::vector<std::size_t> results;
    std::string end = "end";
    std::vector<std::atomic<bool>> completed(p.size);
    std::size_t read = 0;
    try {
      const auto f = [&](std::size_t i) {
        const std::size_t r = compute(p, i);
        completed[i] = true;
        return r;
      };
      for (auto&& r : ex.map_unordered(f, source(p, read), p.options)) results.push_back(r);
    } catch (const odd_error& e) {
      end = std::to_string(e.index);
    } catch (const std::exception& e) {
      end = std::string(e.what()).substr(5);
    }
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < p.size; ++i) {
      if (completed[i]) expected.push_back(i * i + 1);
    }
    std::sort(results.begin(), results.end());
    ASSERT_EQ(results, expected);
    ASSERT_EQ(end, p.failing.empty() ? "end" : std::to_string(p.failing.front()));
  }
}

// The results that a map with too little time gives out are those the loop begins with.
TEST(MapAgainstLoop, ATimeoutCutsThePrefixOnly) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 4, .sizing = weft::sizing_policy::fixed});
  for (std::uint64_t seed = 500'000; seed < 500'000 + scaled(500); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    program p = draw(random);
    p.break_at = p.consumer_throws = never;
    p.options.timeout = std::chrono::microseconds(random() % 300);
    const course serial = follow(p, [&](source s, const auto& consume) {
      for (auto&& i : s) consume(compute(p, i));
    });
    bool in_time = true;
    const course parallel = follow(p, [&](source s, const auto& consume) {
      try {
        for (auto&& r : ex.map([&](std::size_t i) { return compute(p, i); }, s, p.options)) {
          consume(r);
        }
      } catch (const weft::timed_out&) {
        in_time = false;
      }
    });
    if (in_time) {
      ASSERT_EQ(parallel, serial);
    } else {
      ASSERT_LE(parallel.results.size(), serial.results.size());
      ASSERT_TRUE(
          std::equal(parallel.results.begin(), parallel.results.end(), serial.results.begin()));
    }
  }
}

}  // namespace
