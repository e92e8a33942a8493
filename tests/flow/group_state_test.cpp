// The workflow patterns as tables: what happens to a group, and when it is complete.

#include <weft/flow/group_state.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weft::flow {
namespace {

using step = group_state::step;

// A group, told in letters:
//   (  a ticket is opened           )  one is closed
//   +  an instance is added         -  one is added in vain
//   s  the next one starts          n  none may start
//   v  a value, e an error, t timed out, x cancelled: the oldest that runs ends
//   C  complete()   X  cancel()     T  the total time is over     j  join() is called
//   .  it is not complete           !  it is                      =  it can be joined
struct story {
  const char* title;
  group_rules rules;
  std::string events;
  group_end end;
  group_progress progress;
};

class teller {
 public:
  explicit teller(const group_rules& rules) : state_(rules) {}

  void tell(char event) {
    switch (event) {
      case '(':
        EXPECT_TRUE(state_.open_ticket());
        return;
      case ')':
        return state_.close_ticket();
      case '+':
        EXPECT_EQ(state_.add(), attempts_.size());
        return attempts_.push_back(0);
      case '-':
        EXPECT_EQ(state_.add(), std::nullopt);
        return;
      case 's':
        return start();
      case 'n':
        EXPECT_FALSE(state_.can_start());
        EXPECT_EQ(state_.start_next(), std::nullopt);
        return;
      case 'v':
        return end(outcome_kind::value);
      case 'e':
        return end(outcome_kind::error);
      case 't':
        return end(outcome_kind::timed_out);
      case 'x':
        return end(outcome_kind::cancelled);
      case 'C':
        return state_.complete();
      case 'X':
        return state_.cancel();
      case 'T':
        return state_.time_out();
      case 'j':
        return state_.expect_no_more();
      case '.':
        EXPECT_FALSE(state_.is_complete());
        EXPECT_FALSE(state_.is_joinable());
        return;
      case '!':
        EXPECT_TRUE(state_.is_complete());
        return;
      case '=':
        EXPECT_TRUE(state_.is_joinable());
        return;
      default:
        FAIL() << "no such event: " << event;
    }
  }
  [[nodiscard]] const group_state& state() const { return state_; }

 private:
  void start() {
    const auto index = state_.start_next();
    ASSERT_TRUE(index);
    ++attempts_[*index];
    running_.push_back(*index);
  }
  void end(outcome_kind how) {
    ASSERT_FALSE(running_.empty());
    const std::size_t index = running_.front();
    running_.erase(running_.begin());
    if (state_.attempt_ended(index, how, attempts_[index]) == step::rests) {
      EXPECT_TRUE(state_.retry(index));
    }
  }

  group_state state_;
  std::vector<unsigned> attempts_;
  std::vector<std::size_t> running_;
};

void check(const std::vector<story>& stories) {
  for (const story& s : stories) {
    SCOPED_TRACE(s.title);
    teller t(s.rules);
    for (std::size_t i = 0; i < s.events.size(); ++i) {
      SCOPED_TRACE(s.events.substr(0, i) + "<" + s.events[i] + ">");
      t.tell(s.events[i]);
      const group_progress& p = t.state().progress();
      EXPECT_LE(p.ended() + p.running, p.added);
    }
    EXPECT_EQ(t.state().end(), s.end) << to_string(t.state().end());
    EXPECT_EQ(t.state().progress(), s.progress);
  }
}

TEST(GroupState, CompletesWhenNeitherInstancesNorTicketsAreLeft) {
  check({
      {"13, 14: all are added at once, and all are waited for",
       {},
       "(+++)sssvv.v!=",
       group_end::all_ended,
       {.added = 3, .values = 3}},
      {"a failure is an end like any other",
       {},
       "(++)sse.v!=",
       group_end::all_ended,
       {.added = 2, .values = 1, .errors = 1}},
      {"15: more are added while others run, and after all have ended",
       {},
       "(+sv.+s+sv.)v!",
       group_end::all_ended,
       {.added = 3, .values = 3}},
      {"the last one finishes, one more arrives",
       {},
       "(+sv.+.)sv!",
       group_end::all_ended,
       {.added = 2, .values = 2}},
      {"the last ticket closes, one more arrives",
       {},
       "(+)sv!-",
       group_end::all_ended,
       {.added = 1, .values = 1}},
      {"two who may add", {}, "((+s).v.+s).v!", group_end::all_ended, {.added = 2, .values = 2}},
      {"nobody came", {}, ".j!=", group_end::all_ended, {}},
      {"nobody came yet", {}, "(j.)!=", group_end::all_ended, {}},
      {"a ticket without use", {}, "()!=-", group_end::all_ended, {}},
  });
}

TEST(GroupState, JoinRulesFire) {
  const group_rules two_finish{.join = n_of(2, rest::let_finish)};
  const group_rules two_cancel{.join = n_of(2, rest::cancel)};
  check({
      {"34: two of four, the rest runs on",
       two_finish,
       "(++++)ssssvv!=vv",
       group_end::enough,
       {.added = 4, .values = 4}},
      {"34: what has not begun never will",
       two_finish,
       "(++++)sssvv!=nv",
       group_end::enough,
       {.added = 4, .values = 3, .cancelled = 1}},
      {"35: two of four, the rest is asked to stop and waited for",
       two_cancel,
       "(++++)ssssvv!xx=",
       group_end::enough,
       {.added = 4, .values = 2, .cancelled = 2}},
      {"35: one that gives a value all the same keeps it",
       two_cancel,
       "(+++)sssvv!v=",
       group_end::enough,
       {.added = 3, .values = 3}},
      {"36: after it holds nobody is added",
       two_cancel,
       "(++ssvv!=-)",
       group_end::enough,
       {.added = 2, .values = 2}},
      {"failures do not count",
       two_cancel,
       "(++++)ssssev.tv!=",
       group_end::enough,
       {.added = 4, .values = 2, .errors = 1, .timed_out = 1}},
      {"n larger than a closed set: complete when nothing is left",
       two_cancel,
       "(+)sv!=",
       group_end::all_ended,
       {.added = 1, .values = 1}},
      {"n_of(0): complete from the start", {.join = n_of(0)}, "!=-", group_end::enough, {}},
      {"36: a predicate is asked after each completion",
       {.join = until([](const group_progress& p) { return p.failures() > p.values; })},
       "(++++)ssssve.e!x=",
       group_end::enough,
       {.added = 4, .values = 1, .errors = 2, .cancelled = 1}},
  });
}

TEST(GroupState, AnEndIsForced) {
  check({
      {"26: what is complete stays, the rest is withdrawn",
       {},
       "(+++ssvX!n-x=)",
       group_end::cancelled,
       {.added = 3, .values = 1, .cancelled = 2}},
      {"27: the same, and control passes on",
       {},
       "(+++ssvC!n-x=)",
       group_end::completed,
       {.added = 3, .values = 1, .cancelled = 2}},
      {"the first end counts", {}, "(+sC!Xx=)", group_end::completed, {.added = 1, .cancelled = 1}},
      {"cancelled after the end: nothing happens",
       {},
       "(+)svX",
       group_end::all_ended,
       {.added = 1, .values = 1}},
      {"the time of all is over: what has not begun timed out, too",
       {},
       "(++sT!t=)",
       group_end::timed_out,
       {.added = 2, .timed_out = 2}},
  });
}

TEST(GroupState, RunsNoMoreThanItMay) {
  check({
      {"two at once",
       {.max_running = 2},
       "(++++)ssnvsnvsnvnv!",
       group_end::all_ended,
       {.added = 4, .values = 4}},
      {"one that rests leaves its place",
       {.max_running = 1, .retries = 1},
       "(++)snesnvsv!",
       group_end::all_ended,
       {.added = 2, .values = 2}},
  });
}

TEST(GroupState, RetriesAreInvisibleUntilTheLastAttempt) {
  check({
      {"a retry that works",
       {.join = n_of(1), .retries = 2},
       "(+)se.st.sv!",
       group_end::enough,
       {.added = 1, .values = 1}},
      {"no attempt is left",
       {.retries = 1},
       "(+)se.se!",
       group_end::all_ended,
       {.added = 1, .errors = 1}},
      {"a cancelled instance is not retried",
       {.retries = 5},
       "(+)sx!",
       group_end::all_ended,
       {.added = 1, .cancelled = 1}},
      {"one that rests when the group ends is withdrawn",
       {.join = n_of(1), .retries = 1},
       "(++)ssev!=n",
       group_end::enough,
       {.added = 2, .values = 1, .cancelled = 1}},
      {"one that fails after the end is not retried",
       {.join = n_of(1, rest::let_finish), .retries = 9},
       "(++)ssv!x",
       group_end::enough,
       {.added = 2, .values = 1, .cancelled = 1}},
  });
}

TEST(GroupState, EndsWhenMoreFailThanAreTolerated) {
  check({
      {"none",
       {.tolerated = failure_tolerance{}},
       "(+++)sse!x=n",
       group_end::failures,
       {.added = 3, .errors = 1, .cancelled = 2}},
      {"one",
       {.tolerated = failure_tolerance{.count = 1}},
       "(+++)ssse.t!x=",
       group_end::failures,
       {.added = 3, .errors = 1, .timed_out = 1, .cancelled = 1}},
      {"a third of three: one",
       {.tolerated = failure_tolerance{.percent = 34}},
       "(+++)ssse.vv!",
       group_end::all_ended,
       {.added = 3, .values = 2, .errors = 1}},
      {"percent of what may still grow is judged at the end",
       {.tolerated = failure_tolerance{.percent = 50}},
       "(++sse.e.)!=",
       group_end::failures,
       {.added = 2, .errors = 2}},
      {"and so it is while instances run that may add others",
       {.tolerated = failure_tolerance{.percent = 50}, .instances_add_others = true},
       "(++)sse.(+)s.vv!=",
       group_end::all_ended,
       {.added = 3, .values = 2, .errors = 1}},
      {"also when they add none",
       {.tolerated = failure_tolerance{.percent = 40}, .instances_add_others = true},
       "(++)sse.v!=",
       group_end::failures,
       {.added = 2, .values = 1, .errors = 1}},
      {"ten percent of thirty is three",
       {.tolerated = failure_tolerance{.percent = 10}},
       "(" + std::string(30, '+') + ")sssseee.e!",
       group_end::failures,
       {.added = 30, .errors = 4, .cancelled = 26}},
      {"the larger of both counts",
       {.tolerated = failure_tolerance{.count = 2, .percent = 1}},
       "(+++)sssee.v!",
       group_end::all_ended,
       {.added = 3, .values = 1, .errors = 2}},
  });
}

TEST(GroupState, APredicateThatThrowsEndsTheGroup) {
  group_state state({.join = until([](const group_progress&) -> bool {
                       throw std::runtime_error("cannot tell");
                     })});
  ASSERT_TRUE(state.open_ticket());
  ASSERT_EQ(state.add(), 0U);
  ASSERT_EQ(state.add(), 1U);
  ASSERT_EQ(state.start_next(), 0U);
  ASSERT_EQ(state.start_next(), 1U);
  EXPECT_EQ(state.attempt_ended(0, outcome_kind::value, 1), step::ended);
  EXPECT_EQ(state.end(), group_end::bad_rule);
  EXPECT_TRUE(state.stops_running());
  EXPECT_THROW(std::rethrow_exception(state.rule_error()), std::runtime_error);
}

TEST(GroupState, NoTicketOpensAfterTheEnd) {
  group_state state({});
  state.complete();
  EXPECT_FALSE(state.open_ticket());
  EXPECT_EQ(state.tickets(), 0U);
}

TEST(GroupState, OneThatWasAddedStartsBesideRetriesThatAreDue) {
  group_state state({.retries = 1});
  ASSERT_TRUE(state.open_ticket());
  ASSERT_EQ(state.add(), 0U);
  ASSERT_TRUE(state.start_added(0));
  ASSERT_EQ(state.attempt_ended(0, outcome_kind::error, 1), step::rests);
  ASSERT_TRUE(state.retry(0));
  ASSERT_EQ(state.add(), 1U);
  EXPECT_TRUE(state.start_added(1));
  EXPECT_EQ(state.start_next(), 0U) << "the retry is there still";
  EXPECT_EQ(state.progress().running, 2U);
}

TEST(GroupState, OneThatWasAddedTakesNoRoomFromRetriesOrThoseThatWait) {
  group_state state({.max_running = 2, .retries = 1});
  ASSERT_TRUE(state.open_ticket());
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(state.add(), i);
    ASSERT_TRUE(state.start_added(i));
  }
  ASSERT_EQ(state.attempt_ended(0, outcome_kind::error, 1), step::rests);
  ASSERT_TRUE(state.retry(0));
  ASSERT_EQ(state.add(), 2U);
  EXPECT_FALSE(state.start_added(2));
  EXPECT_EQ(state.start_next(), 0U);
  ASSERT_EQ(state.attempt_ended(0, outcome_kind::value, 2), step::ended);
  ASSERT_EQ(state.add(), 3U);
  EXPECT_FALSE(state.start_added(3)) << "2 has waited for longer";
  EXPECT_EQ(state.start_next(), 2U);
}

TEST(GroupState, ValuesThatAreCountedTogetherEndItAsOneByOne) {
  group_state state({});
  ASSERT_TRUE(state.open_ticket());
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(state.add());
    ASSERT_TRUE(state.start_next());
  }
  state.values_ended(0);
  state.values_ended(3);
  EXPECT_EQ(state.progress(), (group_progress{.added = 5, .running = 2, .values = 3}));
  state.close_ticket();
  EXPECT_FALSE(state.is_complete());
  state.values_ended(2);
  EXPECT_EQ(state.end(), group_end::all_ended);
  EXPECT_EQ(state.progress(), (group_progress{.added = 5, .values = 5}));
}

TEST(GroupState, ThatNoneHasEndedCompletesNothing) {
  group_state state({});
  state.values_ended(0);
  EXPECT_FALSE(state.is_complete()) << "somebody may still come";
}

TEST(GroupState, ARestThatEndsAfterTheGroupStartsNothing) {
  group_state state({.retries = 1});
  ASSERT_TRUE(state.open_ticket());
  ASSERT_EQ(state.add(), 0U);
  ASSERT_EQ(state.start_next(), 0U);
  ASSERT_EQ(state.attempt_ended(0, outcome_kind::error, 1), step::rests);
  state.cancel();
  EXPECT_FALSE(state.retry(0));
  EXPECT_EQ(state.start_next(), std::nullopt);
}

TEST(GroupState, EndsHaveNamesForPeople) {
  EXPECT_EQ(to_string(group_end::not_yet), "not yet");
  EXPECT_EQ(to_string(group_end::all_ended), "all ended");
  EXPECT_EQ(to_string(group_end::enough), "enough");
  EXPECT_EQ(to_string(group_end::completed), "completed");
  EXPECT_EQ(to_string(group_end::cancelled), "cancelled");
  EXPECT_EQ(to_string(group_end::timed_out), "timed out");
  EXPECT_EQ(to_string(group_end::failures), "too many failures");
  EXPECT_EQ(to_string(group_end::bad_rule), "the join rule threw");
}

}  // namespace
}  // namespace weft::flow
