// Groups of instances under the deterministic scheduler beside a model of them, which is written
// from the definitions and shares no code with them. At every event both must stand alike, and in
// the end the group must give what the model says.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/async_event.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/flow/instance_group.hpp>

#include <support/scale.hpp>

namespace weft {
namespace {

using kind = outcome_kind;

// -- the model ------------------------------------------------------------------------------------

// What is enough, in numbers that a join rule and the model both understand.
struct threshold {
  enum class rule : std::uint8_t { all, n_of, weighted, throws } what = rule::all;
  std::size_t n = 0;
  weft::rest rest = weft::rest::cancel;

  [[nodiscard]] join_rule as_rule() const {
    switch (what) {
      case rule::all:
        return {};
      case rule::n_of:
        return weft::n_of(n, rest);
      case rule::weighted:
        return until([n = n](const group_progress& p) { return 2 * p.values + p.errors >= n; },
                     rest);
      case rule::throws:
        return until(
            [n = n](const group_progress& p) -> bool {
              if (p.ended() >= n) throw std::domain_error("cannot tell");
              return false;
            },
            rest);
    }
    return {};
  }
};

struct model {
  threshold enough;
  std::size_t max_running = 0;
  unsigned retries = 0;
  std::optional<std::size_t> tolerated;

  enum class place : std::uint8_t { waits, started, begun, ended };
  struct instance {
    place at = place::waits;
    unsigned attempts = 0;
    bool asked_to_stop = false;
    kind how = kind::cancelled;
  };
  std::vector<instance> all;
  std::deque<std::size_t> again;
  std::vector<std::size_t> in_order;  // of their ends, as long as the group is not complete
  std::size_t tickets = 0;
  group_end end = group_end::not_yet;

  [[nodiscard]] std::size_t count(place at) const {
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const instance& i) { return i.at == at; }));
  }
  [[nodiscard]] std::size_t count(kind how) const {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const instance& i) {
      return i.at == place::ended && i.how == how;
    }));
  }
  [[nodiscard]] std::size_t running() const { return count(place::started) + count(place::begun); }
  [[nodiscard]] bool complete() const { return end != group_end::not_yet; }
  [[nodiscard]] group_progress progress() const {
    return {.added = all.size(),
            .running = running(),
            .values = count(kind::value),
            .errors = count(kind::error),
            .timed_out = 0,
            .cancelled = count(kind::cancelled)};
  }

  bool open() {
    if (!complete()) ++tickets;
    return !complete();
  }
  void close() {
    --tickets;
    look(false);
  }
  bool add() {
    if (complete()) return false;
    all.emplace_back();
    start();
    return true;
  }
  void join() { look(false); }
  void start() {
    while (!complete() && (max_running == 0 || running() < max_running)) {
      std::size_t next = all.size();
      if (!again.empty()) {
        next = again.front();
        again.pop_front();
      } else {
        for (std::size_t i = 0; i < all.size() && next == all.size(); ++i) {
          if (all[i].at == place::waits && all[i].attempts == 0) next = i;
        }
      }
      if (next == all.size()) return;
      all[next].at = place::started;
      ++all[next].attempts;
    }
  }
  void begin(std::size_t i) { all[i].at = place::begun; }
  void finish(std::size_t i, kind how) {
    instance& me = all[i];
    if (me.asked_to_stop && how != kind::value) how = kind::cancelled;
    if (how == kind::error && !complete() && me.attempts <= retries) {
      me.at = place::waits;
      again.push_back(i);
      return start();
    }
    ends(i, how);
    look(true);
    start();
  }
  void ends(std::size_t i, kind how) {
    all[i].at = place::ended;
    all[i].how = how;
    if (!complete()) in_order.push_back(i);
  }
  void look(bool one_ended) {
    if (complete()) return;
    const group_progress p = progress();
    if (tolerated && p.errors > *tolerated) return finish_group(group_end::failures);
    if (one_ended) {
      using rule = threshold::rule;
      if (enough.what == rule::throws && p.ended() >= enough.n) {
        return finish_group(group_end::bad_rule);
      }
      if ((enough.what == rule::n_of && p.values >= enough.n) ||
          (enough.what == rule::weighted && 2 * p.values + p.errors >= enough.n)) {
        return finish_group(group_end::enough);
      }
    }
    if (p.ended() == p.added && tickets == 0) finish_group(group_end::all_ended);
  }
  void finish_group(group_end why) {
    if (complete()) return;
    end = why;
    again.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].at == place::waits) ends(i, kind::cancelled);
    }
    const bool lets_finish = why == group_end::enough && enough.rest == rest::let_finish;
    if (why != group_end::all_ended && !lets_finish) stop_running();
  }
  // Those that have not begun are dropped, unless they begin before they are.
  void stop_running() {
    for (instance& i : all) {
      i.asked_to_stop = i.asked_to_stop || i.at == place::begun || i.at == place::started;
    }
  }
  void drop_those_not_begun() {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].at == place::started) ends(i, kind::cancelled);
    }
  }
  void stop_everything() {
    finish_group(group_end::cancelled);
    stop_running();
  }
};

// -- a program ------------------------------------------------------------------------------------

// What the attempts of an instance do.
struct script {
  std::size_t id = 0;
  unsigned failures = 0;  // attempts that throw before one gives a value
  unsigned yields = 0;
  bool waits = false;     // for an event
  unsigned children = 0;  // instances that it adds
  kind when_stopped = kind::cancelled;
  std::shared_ptr<int> mark;  // every living item holds one
};

struct world {
  explicit world(std::uint64_t seed) : random(seed), pool({.deterministic_seed = seed}) {
    using rule = threshold::rule;
    constexpr rule rules[] = {rule::all,  rule::all,      rule::n_of,
                              rule::n_of, rule::weighted, rule::throws};
    m.enough = {.what = rules[draw(6)],
                .n = draw(6),
                .rest = draw(2) == 0 ? rest::let_finish : rest::cancel};
    if (m.enough.what == rule::throws) m.enough.n += 1;
    if (m.enough.what == rule::n_of && m.enough.n == 0) m.end = group_end::enough;
    m.max_running = draw(4);
    m.retries = static_cast<unsigned>(draw(3));
    if (draw(3) == 0) m.tolerated = draw(3);
    streams = draw(2) == 0;
    act_at = 1 + draw(40);
  }
  std::uint64_t draw(std::uint64_t below) { return random() % below; }

  script write() {
    constexpr kind ways[] = {kind::value, kind::error, kind::cancelled};
    return {.id = m.all.size(),
            .failures = draw(3) == 0 ? 1 + static_cast<unsigned>(draw(3)) : 0,
            .yields = static_cast<unsigned>(draw(4)),
            .waits = draw(4) == 0,
            .children = draw(4) == 0 ? static_cast<unsigned>(draw(3)) : 0,
            .when_stopped = ways[draw(3)],
            .mark = mark};
  }

  // Before every event: the group stands where the model does.
  void event(const char* what) {
    if (complaint.empty() && !unknown) {
      if (group->ended_by() != m.end) complain(what, "ends differ");
      // Afterwards those that were started and have not begun are dropped one after the other.
      if (!m.complete() && group->progress() != m.progress()) complain(what, "progress differs");
    }
    if (++events == act_at) act();
  }
  void complain(const char* what, const std::string& why) {
    std::ostringstream text;
    const group_progress is = group->progress();
    const group_progress should = m.progress();
    text << why << " at event " << events << ", " << what << ": " << to_string(group->ended_by())
         << " / " << to_string(m.end);
    for (const auto& p : {is, should}) {
      text << "; added " << p.added << " running " << p.running << " values " << p.values
           << " errors " << p.errors << " cancelled " << p.cancelled;
    }
    if (complaint.empty() && !unknown) complaint = text.str();
  }
  void act() {
    switch (draw(5)) {
      case 0:
        m.finish_group(group_end::completed);
        return group->complete();
      case 1:
        m.stop_everything();
        return group->cancel();
      case 2:
        // When it waits it stops the group as soon as it goes on, which nobody sees.
        unknown = unknown || joiner_waits;
        joiner_stopped = true;
        if (joined.valid()) joined.request_stop();
        return;
      default:
        return;
    }
  }

  std::mt19937_64 random;
  model m;
  bool streams = false;
  std::uint64_t events = 0;
  std::uint64_t act_at = 0;
  bool joiner_begun = false;
  bool joiner_waits = false;
  bool joiner_stopped = false;
  bool unknown = false;  // where the model would stand
  std::string complaint;
  std::shared_ptr<int> mark = std::make_shared<int>(0);
  async_event open_gate;
  weft::pool pool;
  std::optional<instance_group<script, std::size_t>> group;
  future<void> joined;
  std::vector<outcome<std::size_t>> outcomes;
  std::optional<group_end> thrown;  // how the join failed
};

using ticket = instance_ticket<script>;

void add(world& w, ticket& t) {
  w.event("add");
  script s = w.write();
  const bool expected = w.m.add();
  if (t.add(std::move(s)) != expected) w.complain("add", "one of them refused");
}

task<std::size_t> body(world& w, script s, ticket more) {
  w.m.begin(s.id);
  const bool is_open = w.m.open();
  w.event("begin");
  kind how = w.m.all[s.id].attempts <= s.failures ? kind::error : kind::value;
  try {
    for (unsigned i = 0; i < s.yields; ++i) co_await yield();
    if (s.waits) co_await w.open_gate.wait();
    for (unsigned i = 0; i < s.children && w.m.all.size() < 30; ++i) add(w, more);
  } catch (const cancelled&) {
    how = s.when_stopped;
  }
  w.event("close");
  if (is_open) w.m.close();
  more.close();
  w.event("end");
  w.m.finish(s.id, how);
  if (how == kind::error) throw std::runtime_error("attempt");
  if (how == kind::cancelled) throw cancelled();
  co_return s.id;
}

task<void> adds(world& w, std::uint64_t count) {
  for (std::uint64_t i = w.draw(3); i > 0; --i) co_await yield();
  w.event("open");
  const bool is_open = w.m.open();
  ticket t = w.group->open();
  for (std::uint64_t i = 0; i < count; ++i) {
    add(w, t);
    if (w.draw(2) == 0) co_await yield();
  }
  w.event("close");
  if (is_open) w.m.close();
  t.close();
}

task<void> opens_gate_after(world& w, std::vector<future<void>> adders) {
  for (auto& f : adders) co_await std::move(f);
  for (std::uint64_t i = w.draw(8); i > 0; --i) co_await yield();
  w.open_gate.set();
}

task<void> joins(world& w) {
  w.joiner_begun = true;
  const auto before_wait = [&w](bool for_the_end) {
    w.event("wait");
    w.joiner_waits = true;
    if (for_the_end) w.m.join();
    if (w.joiner_stopped) w.m.stop_everything();
  };
  try {
    for (std::uint64_t i = w.draw(6); i > 0; --i) co_await yield();
    while (w.streams) {
      before_wait(false);
      auto o = co_await w.group->next();
      w.joiner_waits = false;
      if (!o) break;
      w.outcomes.push_back(std::move(*o));
    }
    before_wait(true);
    auto rest = co_await w.group->join();
    w.joiner_waits = false;
    for (auto& o : rest) w.outcomes.push_back(std::move(o));
  } catch (const cancelled&) {
    w.thrown = group_end::cancelled;
  } catch (const std::domain_error&) {
    w.thrown = group_end::bad_rule;
  } catch (const std::runtime_error&) {
    w.thrown = group_end::failures;
  }
  w.joiner_waits = false;
  w.event("joined");
}

std::string check_outcomes(const world& w) {
  const bool bad_end = w.m.end == group_end::cancelled || w.m.end == group_end::bad_rule ||
                       w.m.end == group_end::failures;
  if (w.unknown) {
    return w.thrown || w.m.complete() ? "" : "the join went on";
  }
  if (w.joiner_stopped) {
    // Unless it had joined before.
    const bool as_it_ended = w.thrown ? w.thrown == w.m.end : !bad_end;
    return !w.joiner_begun || w.thrown == group_end::cancelled || as_it_ended ? ""
                                                                              : "not cancelled";
  }
  if (w.thrown.value_or(group_end::not_yet) != (bad_end ? w.m.end : group_end::not_yet)) {
    return "join threw something else";
  }
  if (bad_end) return {};
  std::vector<std::size_t> given;
  for (const auto& o : w.outcomes) {
    given.push_back(o.index());
    const auto& should = w.m.all[o.index()];
    if (o.kind() != should.how) return "an outcome differs";
    if (o.attempts() != should.attempts) return "attempts differ";
    if (o.has_value() && o.value() != o.index()) return "a value of somebody else";
  }
  const auto& ended = w.m.in_order;
  if (w.streams &&
      (given.size() < ended.size() || !std::equal(ended.begin(), ended.end(), given.begin()))) {
    return "another order";
  }
  if (!w.streams && !std::is_sorted(given.begin(), given.end())) return "not in order";
  std::sort(given.begin(), given.end());
  if (std::adjacent_find(given.begin(), given.end()) != given.end()) return "given twice";
  // What was let finish may have ended after the join, and is then not given.
  const bool may_miss = w.m.end == group_end::enough && w.m.enough.rest == rest::let_finish;
  return may_miss || given.size() == w.m.all.size() ? "" : "not all outcomes";
}

std::string run_program(std::uint64_t seed) {
  world w(seed);
  instance_options options{.join = w.m.enough.as_rule(),
                           .max_running = w.m.max_running,
                           .retry = {.times = w.m.retries}};
  if (w.m.tolerated) options.tolerated = failure_tolerance{.count = *w.m.tolerated};
  w.group.emplace(
      w.pool, [&w](script s, ticket t) { return body(w, std::move(s), std::move(t)); }, options);
  w.joined = spawn(w.pool, joins(w));
  std::vector<future<void>> adders;
  for (std::uint64_t i = 1 + w.draw(3); i > 0; --i) {
    adders.push_back(spawn(w.pool, adds(w, w.draw(6))));
  }
  spawn(w.pool, opens_gate_after(w, std::move(adders))).get();
  try {
    w.joined.get();
  } catch (const cancelled&) {
    if (w.joiner_begun) w.complain("join", "was cancelled");
  }
  const bool lets_finish = w.m.end == group_end::enough && w.m.enough.rest == rest::let_finish;
  if (!lets_finish) w.m.drop_those_not_begun();
  if (w.complaint.empty()) w.complaint = check_outcomes(w);
  w.m.finish_group(group_end::cancelled);
  w.group.reset();
  w.m.drop_those_not_begun();
  if (w.complaint.empty() && !w.unknown && w.m.running() != 0) w.complaint = "something ran on";
  if (w.complaint.empty() && w.mark.use_count() != 1) w.complaint = "items are left";
  return w.complaint;
}

TEST(InstanceGroupModel, GroupsDoWhatTheModelSays) {
  for (int seed = 0; seed < test::rounds(20'000); ++seed) {
    const std::string complaint = run_program(static_cast<std::uint64_t>(seed));
    ASSERT_EQ(complaint, "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace weft
