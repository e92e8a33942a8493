#include <weft/batch/ready_queue.hpp>

#include <algorithm>
#include <numeric>

namespace weft {

std::string_view name_of(run_policy policy) noexcept {
  switch (policy) {
    case run_policy::critical_path:
      return "critical-path";
    case run_policy::stealing:
      return "stealing";
    case run_policy::largest_first:
      return "largest-first";
    case run_policy::fifo:
      return "fifo";
  }
  return "";
}

namespace batch {
namespace {

// How many rules that do not fit are passed over in search of one that does.
constexpr std::size_t passed_over_max = 64;

// Rules by a key, the largest first, and by their place in the plan where keys are equal.
class priority_heap {
 public:
  void push(double key, node rule) {
    entries_.push_back({key, rule});
    std::ranges::push_heap(entries_, comes_later);
  }

  std::optional<node> take(const ready_queue::filter& admits) {
    std::optional<node> found;
    std::vector<entry> refused;
    while (!found && !entries_.empty() && refused.size() < passed_over_max) {
      std::ranges::pop_heap(entries_, comes_later);
      const entry first = entries_.back();
      entries_.pop_back();
      if (admits(first.rule)) {
        found = first.rule;
      } else {
        refused.push_back(first);
      }
    }
    for (const entry& back : refused) push(back.key, back.rule);
    return found;
  }

  template <class Key>
  void rekey(Key key) {
    for (entry& e : entries_) e.key = key(e.rule);
    std::ranges::make_heap(entries_, comes_later);
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct entry {
    double key;
    node rule;
  };
  static bool comes_later(const entry& a, const entry& b) {
    return a.key != b.key ? a.key < b.key : a.rule > b.rule;
  }

  std::vector<entry> entries_;
};

// One queue for all workers.
class shared_queue : public ready_queue {
 public:
  explicit shared_queue(const expectations& expected) : expected_(expected) {}

  void add(std::span<const node> ready) final {
    for (const node rule : ready) heap_.push(key(rule), rule);
  }
  std::optional<picked> take(unsigned worker, const filter& admits) final {
    const std::optional<node> rule = heap_.take(admits);
    if (!rule) return std::nullopt;
    return picked{.rule = *rule, .owner = worker};
  }
  void reorder() override {
    heap_.rekey([this](node rule) { return key(rule); });
  }
  [[nodiscard]] std::size_t size() const final { return heap_.size(); }

 protected:
  [[nodiscard]] virtual double key(node rule) = 0;
  [[nodiscard]] const expectations& expected() const { return expected_; }

 private:
  expectations expected_;
  priority_heap heap_;
};

class critical_path_queue final : public shared_queue {
  using shared_queue::shared_queue;
  double key(node rule) override { return expected().rank[rule]; }
};

class largest_first_queue final : public shared_queue {
  using shared_queue::shared_queue;
  double key(node rule) override { return expected().cost[rule]; }
};

class fifo_queue final : public shared_queue {
  using shared_queue::shared_queue;
  double key(node /*rule*/) override { return -static_cast<double>(arrived_++); }
  void reorder() override {}  // when a rule came does not change

  std::uint64_t arrived_ = 0;
};

// A queue for each worker, the largest rule first in each.
class stealing_queue final : public ready_queue {
 public:
  stealing_queue(const expectations& expected, unsigned workers)
      : expected_(expected), hands_(workers) {}

  // Largest first, each to the worker with the least to do.
  void add(std::span<const node> ready) override {
    std::vector<node> dealt(ready.begin(), ready.end());
    std::ranges::stable_sort(dealt, std::ranges::greater{},
                             [this](node rule) { return expected_.cost[rule]; });
    for (const node rule : dealt) {
      hand& least = *std::ranges::min_element(hands_, {}, &hand::seconds);
      least.heap.push(expected_.cost[rule], rule);
      least.seconds += expected_.cost[rule];
    }
  }

  std::optional<picked> take(unsigned worker, const filter& admits) override {
    if (const auto rule = take_from(hands_[worker], admits)) {
      return picked{.rule = *rule, .owner = worker};
    }
    std::vector<unsigned> victims(hands_.size());
    std::iota(victims.begin(), victims.end(), 0U);
    std::ranges::stable_sort(victims, std::ranges::greater{},
                             [this](unsigned victim) { return hands_[victim].seconds; });
    for (const unsigned victim : victims) {
      if (const auto rule = take_from(hands_[victim], admits)) {
        return picked{.rule = *rule, .owner = victim};
      }
    }
    return std::nullopt;
  }

  void reorder() override {
    for (hand& each : hands_) {
      each.seconds = 0;
      each.heap.rekey([&](node rule) {
        each.seconds += expected_.cost[rule];
        return expected_.cost[rule];
      });
    }
  }

  [[nodiscard]] std::size_t size() const override {
    std::size_t sum = 0;
    for (const hand& each : hands_) sum += each.heap.size();
    return sum;
  }

 private:
  struct hand {
    priority_heap heap;
    double seconds = 0;  // what its rules are expected to take
  };

  std::optional<node> take_from(hand& from, const filter& admits) {
    const std::optional<node> rule = from.heap.take(admits);
    if (rule) from.seconds -= expected_.cost[*rule];
    if (from.heap.size() == 0) from.seconds = 0;  // no rest of rounding
    return rule;
  }

  expectations expected_;
  std::vector<hand> hands_;
};

}  // namespace

std::unique_ptr<ready_queue> make_ready_queue(run_policy policy, const expectations& expected,
                                              unsigned workers) {
  switch (policy) {
    case run_policy::critical_path:
      return std::make_unique<critical_path_queue>(expected);
    case run_policy::stealing:
      return std::make_unique<stealing_queue>(expected, workers);
    case run_policy::largest_first:
      return std::make_unique<largest_first_queue>(expected);
    case run_policy::fifo:
      return std::make_unique<fifo_queue>(expected);
  }
  return nullptr;
}

}  // namespace batch
}  // namespace weft
