// Programs of tasks that wait for sockets and timers on two I/O threads, which are run in turn by
// the test, with an engine that answers as a seed says. They are asked to stop at each of their
// points in turn, from outside or from the other thread. Whatever the order, afterwards every frame
// is gone, and every operation has been told of its result once.

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/schedule_on.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/coro/when.hpp>
#include <weft/io/socket_wait.hpp>

#include <support/scale.hpp>

#include "io/io_thread.hpp"
#include "io/reactor.hpp"
#include "io/socket_state.hpp"

namespace weft::io {
namespace {

using random_source = std::mt19937_64;

// Answers at once or later, with all bytes, some of them, or an error. What is called off may have
// been done before. Whoever wants to read a single byte waits until it is called off.
class moody_reactor final : public reactor {
 public:
  static constexpr std::size_t never = 1;

  explicit moody_reactor(random_source& random) : random_(random) {}

  void run_turn(time_point /*until*/) noexcept override {
    const auto all = std::exchange(pending_, {});
    for (socket_operation* const op : all) {
      if (op->called_off || (is_answered(*op) && random_() % 2 == 0)) {
        answer(*op);
      } else {
        pending_.push_back(op);
      }
    }
  }
  void wake() noexcept override {}
  void start(socket_operation& op) noexcept override {
    socket_operation*& slot = op.socket->slot(op.asked);
    if (slot != &op) fault = "two operations in one direction";
    if (is_answered(op) && random_() % 3 == 0) return answer(op);
    pending_.push_back(&op);
  }
  void cancel(socket_operation& op) noexcept override { op.called_off = true; }
  void forget(reactor_socket& s) noexcept override {
    if (s.input != nullptr || s.output != nullptr) fault = "closed with an operation pending";
    ++forgotten;
  }
  [[nodiscard]] bool wants_nonblocking() const noexcept override { return true; }
  [[nodiscard]] boost::asio::io_context* context() noexcept override { return nullptr; }

  [[nodiscard]] std::size_t pending() const { return pending_.size(); }
  std::string fault;
  int forgotten = 0;

 private:
  [[nodiscard]] static bool is_answered(const socket_operation& op) noexcept {
    return op.asked != socket_operation::kind::receive || op.size != never;
  }
  void answer(socket_operation& op) noexcept {
    if (op.called_off && random_() % 4 != 0) {
      op.result = -ECANCELED;
    } else if (random_() % 8 == 0) {
      op.result = -ECONNRESET;
    } else {
      op.result = static_cast<int>(1 + random_() % op.size);
    }
    op.done();
  }

  random_source& random_;
  std::vector<socket_operation*> pending_;
};

// What one run shares and counts.
struct world {
  explicit world(std::uint64_t seed) : random(seed) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      auto engine = std::make_unique<moody_reactor>(random);
      engines[i] = engine.get();
      lanes[i] = std::make_unique<io_thread>(std::move(engine));
      // No descriptor: the engine does not ask for one.
      sockets[i] = std::make_shared<socket_state>(*lanes[i], -1, socket_address{});
    }
  }

  std::uint64_t draw(std::uint64_t below) { return random() % below; }
  // Before every suspension.
  void point() {
    if (++points == act_at) act();
  }

  random_source random;
  std::array<moody_reactor*, 2> engines{};
  std::array<std::unique_ptr<io_thread>, 2> lanes;
  std::array<std::shared_ptr<socket_state>, 2> sockets;
  int points = 0;
  int act_at = 0;
  std::function<void()> act;
  std::shared_ptr<int> frames = std::make_shared<int>(0);  // every frame holds a copy
};

using frame_mark = std::shared_ptr<int>;

// Another task may be at the same socket, it may be closed, and it may break.
task<> reads(world& w, std::shared_ptr<socket_state> from, frame_mark /*alive*/) {
  std::array<std::byte, 4> bytes{};
  w.point();
  try {
    co_await receive_wait(from, std::span(bytes));
  } catch (const std::system_error&) {
  } catch (const std::logic_error&) {
  }
}

task<> writes(world& w, std::shared_ptr<socket_state> to, frame_mark /*alive*/) {
  const std::array<std::byte, 4> bytes{};
  w.point();
  try {
    co_await send_wait(to, std::span(bytes));
  } catch (const std::system_error&) {
  } catch (const std::logic_error&) {
  }
}

task<> reads_in_vain(world& w, std::shared_ptr<socket_state> from, frame_mark /*alive*/) {
  std::array<std::byte, moody_reactor::never> byte{};
  w.point();
  try {
    co_await receive_wait(from, std::span(byte));
  } catch (const std::system_error&) {
  } catch (const std::logic_error&) {
  }
}

task<> closes(world& w, std::shared_ptr<socket_state> which, frame_mark /*alive*/) {
  w.point();
  co_await yield();
  which->close();
}

task<> hops_and_yields(world& w, frame_mark /*alive*/) {
  w.point();
  co_await schedule_on(*w.lanes[w.draw(2)]);
  w.point();
  co_await yield();
}

task<> sleeps_for_ever(world& w, frame_mark /*alive*/) {
  w.point();
  co_await sleep_until(coro::timer_queue::time_point::max());
}

task<> acts(world& w, int depth, frame_mark alive);

task<> both(world& w, int depth, frame_mark alive) {
  w.point();
  co_await when_all(acts(w, depth, alive), acts(w, depth, alive));
}

task<> either(world& w, int depth, frame_mark alive) {
  w.point();
  switch (w.draw(3)) {
    case 0:
      co_await when_any(acts(w, depth, alive), sleeps_for_ever(w, alive));
      break;
    case 1:
      co_await when_any(acts(w, depth, alive), reads_in_vain(w, w.sockets[w.draw(2)], alive));
      break;
    default:
      co_await when_any(acts(w, depth, alive), acts(w, depth, alive));
      break;
  }
}

// Something that ends by itself whatever the others do.
task<> acts(world& w, int depth, frame_mark alive) {
  const auto socket = w.sockets[w.draw(2)];
  switch (w.draw(depth > 0 ? 8 : 4)) {
    case 0:
      return reads(w, socket, alive);
    case 1:
      return writes(w, socket, alive);
    case 2:
      return hops_and_yields(w, alive);
    case 3:
      return w.draw(4) == 0 ? closes(w, socket, alive) : reads(w, socket, alive);
    case 4:
    case 5:
      return both(w, depth - 1, alive);
    default:
      return either(w, depth - 1, alive);
  }
}

task<> program(world& w, frame_mark alive) {
  co_await hops_and_yields(w, alive);
  co_await both(w, 2, alive);
  co_await either(w, 2, alive);
}

// Starts a task in a lane, and may be asked to stop it.
class started final : public coro::chain_owner {
 public:
  started(lane& home, task<> t) : task_(std::move(t)) {
    auto& first = task_.promise("exploration");
    first.start_chain(*this, home);
    first.post();
  }
  void stop() {
    source_.request_stop();
    if (!has_ended_) stop_chain(task_.promise("exploration"));
  }
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  // What the task would have thrown.
  void finish() {
    auto ended = std::move(task_);
    ended.promise("exploration").take();
  }

 private:
  void ended(coro::promise_base& /*first*/) noexcept override { has_ended_ = true; }
  [[nodiscard]] std::stop_token stop_token() noexcept override { return source_.get_token(); }
  [[nodiscard]] std::string_view name() const noexcept override { return "exploration"; }

  task<> task_;
  std::stop_source source_;
  bool has_ended_ = false;
};

struct run_result {
  bool was_cancelled = false;
  int points = 0;
  std::string complaint;
};

std::string complaint(world& w) {
  if (w.frames.use_count() != 1) {
    return std::to_string(w.frames.use_count() - 1) + " frames are left";
  }
  for (std::size_t i = 0; i < w.lanes.size(); ++i) {
    if (!w.engines[i]->fault.empty()) return w.engines[i]->fault;
    if (w.engines[i]->pending() != 0) return "an operation is pending that nobody waits for";
    if (!w.lanes[i]->coro::timer_queue::empty()) return "a timer is left";
    if (w.sockets[i].use_count() != 1) return "somebody holds a socket";
    w.sockets[i]->close();
    for (int turns = 0; turns < 100 && w.engines[i]->forgotten == 0; ++turns) {
      static_cast<void>(w.lanes[i]->turn());
    }
    if (w.engines[i]->forgotten != 1) return "a socket was not closed, or twice";
  }
  return {};
}

// From where the request comes: none of the lanes, or one of them, which need not be that in which
// the task is.
enum class stop_from : std::uint8_t { within, outside, a_lane };

run_result run(std::uint64_t seed, int at, stop_from where) {
  world w(seed);
  run_result r;
  {
    started s(*w.lanes[w.draw(2)], program(w, w.frames));
    bool asked = false;
    w.act_at = at;
    w.act = [&] {
      if (where == stop_from::within) return s.stop();
      asked = true;
    };
    struct : detail::queued_job {
      std::function<void()> what;
    } request;
    bool is_in_a_lane = false;
    request.what = [&] {
      is_in_a_lane = false;
      s.stop();
    };
    request.call = [](detail::job& self, detail::job_fate /*fate*/) noexcept {
      static_cast<decltype(request)&>(self).what();
    };
    constexpr int patience = 10'000;
    int turns = 0;
    for (; !s.has_ended() && turns < patience; ++turns) {
      static_cast<void>(w.lanes[w.draw(2)]->turn());
      if (!std::exchange(asked, false)) continue;
      if (where == stop_from::outside) {
        s.stop();
      } else {
        is_in_a_lane = true;
        w.lanes[w.draw(2)]->post(request);
      }
    }
    r.points = w.points;
    if (turns == patience) {
      ADD_FAILURE() << "seed " << seed << ", stopped at point " << at << ": it does not end";
      std::abort();  // what it holds cannot be taken from it
    }
    try {
      s.finish();
    } catch (const cancelled&) {
      r.was_cancelled = true;
    }
    // What is in the lanes still, such as a request that came too late. One turn need not be
    // enough: it ends early when its time is up.
    const auto sockets_are_held = [&] {
      return w.sockets[0].use_count() != 1 || w.sockets[1].use_count() != 1;
    };
    turns = 0;
    do {
      for (auto& lane : w.lanes) static_cast<void>(lane->turn());
    } while (is_in_a_lane || (sockets_are_held() && ++turns < 100));
  }
  r.complaint = complaint(w);
  return r;
}

const int seeds = test::rounds(20'000);

void stop_everywhere(stop_from where) {
  long runs = 0;
  long cancelled_runs = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const auto s = static_cast<std::uint64_t>(seed);
    const run_result whole = run(s, 0, where);
    ASSERT_EQ(whole.complaint, "") << "seed " << seed;
    ASSERT_FALSE(whole.was_cancelled) << "seed " << seed;
    for (int at = 1; at <= whole.points; ++at) {
      const run_result r = run(s, at, where);
      ASSERT_EQ(r.complaint, "") << "seed " << seed << ", stopped at point " << at;
      ++runs;
      cancelled_runs += r.was_cancelled ? 1 : 0;
    }
  }
  // Most stops are noticed; those near the end come too late.
  EXPECT_GT(cancelled_runs, runs / 2);
}

TEST(IoExploration, StoppedByItselfAtAnyPointLeavesNothingBehind) {
  stop_everywhere(stop_from::within);
}

TEST(IoExploration, StoppedFromOutsideAtAnyPointLeavesNothingBehind) {
  stop_everywhere(stop_from::outside);
}

TEST(IoExploration, StoppedFromALaneAtAnyPointLeavesNothingBehind) {
  stop_everywhere(stop_from::a_lane);
}

}  // namespace
}  // namespace weft::io
