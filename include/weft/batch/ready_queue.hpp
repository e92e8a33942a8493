#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <weft/batch/graph.hpp>

namespace weft {

// Which of the ready rules runs next.
enum class run_policy : std::uint8_t {
  critical_path,  // the one with the longest way to the end of the plan behind it
  stealing,       // dealt to the workers; an idle one steals from the one with the most left
  largest_first,  // the one expected to take longest
  fifo,           // the one that has been ready for longest
};

[[nodiscard]] std::string_view name_of(run_policy policy) noexcept;

namespace batch {

// What is expected of each rule; spans into what the dispatcher owns.
struct expectations {
  std::span<const double> cost;  // seconds
  std::span<const double> rank;  // seconds from its beginning to the end of the plan
};

struct picked {
  node rule = 0;
  unsigned owner = 0;  // the worker that it was dealt to; another than the one who takes it: stolen
};

// The rules that are ready, in the order of a policy. One small class for each policy.
//
// Threads: none of its own; the dispatcher's lock guards it.
class ready_queue {
 public:
  using filter = std::function<bool(node)>;

  virtual ~ready_queue() = default;
  // Rules that have become ready at the same moment.
  virtual void add(std::span<const node> ready) = 0;
  // What `worker` should run: the first that `admits` accepts.
  virtual std::optional<picked> take(unsigned worker, const filter& admits) = 0;
  // Takes notice of expectations that have changed.
  virtual void reorder() = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
};

[[nodiscard]] std::unique_ptr<ready_queue> make_ready_queue(run_policy policy,
                                                            const expectations& expected,
                                                            unsigned workers);

}  // namespace batch
}  // namespace weft
