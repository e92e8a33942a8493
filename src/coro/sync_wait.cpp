#include <weft/coro/sync_wait.hpp>

#include <functional>
#include <optional>

#include <weft/core/crew_access.hpp>
#include <weft/core/latch.hpp>

#include "coro/thread_lane.hpp"

namespace weft::coro {
namespace {

// A chain that a thread waits for. It is asked to stop when the token is.
class waited_chain : public chain_owner {
 public:
  void listen(const std::stop_token& token, promise_base& first) {
    if (token.stop_possible()) stopper_.emplace(token, stop{this, &first});
  }

 protected:
  ~waited_chain() = default;

 private:
  struct stop {
    void operator()() const noexcept {
      chain->stop_.request_stop();
      stop_chain(*first);
    }
    waited_chain* chain;
    promise_base* first;
  };

  [[nodiscard]] std::stop_token stop_token() noexcept override { return stop_.get_token(); }
  [[nodiscard]] std::string_view name() const noexcept override { return "sync_wait"; }
  [[nodiscard]] const detail::context_node* on_behalf_of() const noexcept override {
    return context_.node();
  }

  const weft::context context_ = weft::context::current();
  std::stop_source stop_;
  std::optional<std::stop_callback<stop>> stopper_;  // its destructor waits for a stop under way
};

class chain_of_a_thread final : public waited_chain {
 public:
  thread_lane lane;

 private:
  void ended(promise_base& /*first*/) noexcept override { lane.close(); }
};

class chain_of_a_pool final : public waited_chain {
 public:
  detail::latch done;

 private:
  void ended(promise_base& /*first*/) noexcept override { done.set(); }
};

}  // namespace

void run_and_wait(promise_base& first, const std::stop_token& token) {
  if (pool* p = pool::current()) return run_and_wait(*p, first, token);
  run_here_and_wait(first, token);
}

void run_here_and_wait(promise_base& first, const std::stop_token& token) {
  chain_of_a_thread chain;
  first.start_chain(chain, chain.lane);
  chain.listen(token, first);
  chain.lane.post(first);
  chain.lane.run();
}

void run_and_wait(pool& p, promise_base& first, const std::stop_token& token) {
  detail::crew& c = detail::crew_of(p);
  // It will not help, and there may be nobody else.
  if (detail::must_run_inline(c) && !detail::is_deterministic(c)) {
    return run_here_and_wait(first, token);
  }
  chain_of_a_pool chain;
  first.start_chain(chain, lane_of(p));
  detail::submit_task(c, first, "sync_wait");
  chain.listen(token, first);
  detail::wait_for_lending(chain.done, c);
}

}  // namespace weft::coro
