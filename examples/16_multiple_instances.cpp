// A laboratory studies a protein: one case in which activities run in many instances, each joined
// in another way. Numbers in brackets are those of the workflow patterns.

#include <array>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

struct sample {
  std::size_t id = 0;
  bool is_double = false;  // must be split, and both halves tested
};

std::size_t run_test(const sample& s) { return s.id % 7; }

// Asks an archive. Only the second one answers; the others wait until they are called away.
weft::task<std::string> ask_archive(weft::async_event& never, std::size_t archive) {
  if (archive != 1) co_await never.wait();
  co_return "folds like lysozyme";
}

// 13: as many instances as the law wants, known when the program is written.
weft::task<> sign(weft::hybrid_scheduler& hs) {
  const std::array<std::size_t, 6> by =
      co_await weft::times<6>(hs, [](std::size_t director) { return director + 1; });
  std::printf("13  signed by %zu directors\n", by.back());
}

// 14: as many as there are samples. Values come in the order of samples; eight run at once.
weft::task<std::vector<sample>> prepare(weft::hybrid_scheduler& hs, std::size_t count) {
  std::vector<std::size_t> ids(count);
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  auto samples = co_await weft::each(
      hs, ids, [](std::size_t id) { return sample{.id = id, .is_double = id % 100 == 99}; },
      {.max_running = 8, .retry = {.times = 2}, .name = "prepare"});
  std::printf("14  %zu samples prepared, the last is number %zu\n", samples.size(),
              samples.back().id);
  co_return samples;
}

// 15 and 35: tests add tests, and 400 are enough. The rest is withdrawn.
weft::task<> test(weft::hybrid_scheduler& hs, const std::vector<sample>& samples) {
  weft::instance_group<sample, std::size_t> tests(
      hs,
      [](sample s, auto more) {
        if (s.is_double) more.add({.id = s.id + 1'000});  // the other half
        return run_test(s);
      },
      {.join = weft::n_of(400, weft::rest::cancel), .max_running = 8});
  {
    auto ticket = tests.open();
    for (const sample& s : samples) {
      if (!ticket.add(s)) break;  // there are enough already
    }
  }
  const auto outcomes = co_await tests.join();
  std::size_t values = 0;
  for (const auto& o : outcomes) values += o ? 1 : 0;
  std::printf("15+35  %s\n", values >= 400 && tests.ended_by() == weft::group_end::enough
                                 ? "400 tests were enough"
                                 : "too few tests");
}

// 34: two of three reviewers are enough; the third may finish, and nobody waits for it.
weft::task<> review(weft::hybrid_scheduler& hs) {
  weft::async_event third_may_end;
  weft::instance_group<int, int> reviews(hs,
                                         [&](int reviewer) -> weft::task<int> {
                                           if (reviewer == 3) co_await third_may_end.wait();
                                           co_return reviewer;
                                         },
                                         {.join = weft::n_of(2, weft::rest::let_finish)});
  {
    auto ticket = reviews.open();
    for (const int reviewer : {1, 2, 3}) ticket.add(reviewer);
  }
  const auto outcomes = co_await reviews.join();
  std::printf("34  %zu reviews came, %zu goes on\n", outcomes.size(), reviews.progress().running);
  third_may_end.set();
  co_await reviews.drain();
}

// 36: measures again until three results are good, however many that takes.
weft::task<> measure(weft::hybrid_scheduler& hs) {
  weft::instance_group<int, int> measurements(
      hs,
      [](int number, auto more) {
        more.add(number + 1);
        if (number % 2 == 0) throw std::runtime_error("the needle stuck");
        return number;
      },
      {.join = weft::until([](const weft::group_progress& p) { return p.values == 3; }),
       .max_running = 1});
  {
    auto ticket = measurements.open();
    ticket.add(1);
  }
  co_await measurements.join();
  const weft::group_progress p = measurements.progress();
  std::printf("36  %zu good measurements, %zu bad ones\n", p.values, p.errors);
}

// 32: the first archive that knows the answer ends the search in the others.
weft::task<> search(weft::hybrid_scheduler& hs) {
  weft::async_event never;
  const std::vector<std::size_t> archives{0, 1, 2};
  const auto answers = co_await weft::each_outcome(
      hs, archives, [&](std::size_t archive) { return ask_archive(never, archive); },
      {.join = weft::n_of(1)});
  for (const auto& o : answers) {
    if (o) std::printf("32  archive %zu: %s\n", o.index(), o.value().c_str());
  }
}

// 27: whoever reads the results decides that they suffice.
weft::task<> screen(weft::hybrid_scheduler& hs, const std::vector<sample>& samples) {
  weft::instance_group<sample, std::size_t> screening(hs, run_test, {.max_running = 1});
  auto ticket = screening.open();
  for (const sample& s : samples) ticket.add(s);
  while (const auto o = co_await screening.next()) {
    if (!*o || o->value() != 5) continue;
    std::printf("27  sample %zu is the one\n", o->index());
    screening.complete();
    break;
  }
}

// 26: the study of a second protein is called off, and nothing of it follows.
weft::task<> call_off(weft::hybrid_scheduler& hs, const std::vector<sample>& samples) {
  weft::async_event delivery;  // never comes
  weft::instance_group<sample> orders(
      hs, [&](const sample&) -> weft::task<> { co_await delivery.wait(); });
  {
    auto ticket = orders.open();
    for (const sample& s : samples) ticket.add(s);
  }
  orders.cancel();
  try {
    co_await orders.join();
    std::printf("26  all were delivered\n");
  } catch (const weft::cancelled&) {
    std::printf("26  %zu orders withdrawn\n", orders.progress().cancelled);
  }
}

weft::task<> study(weft::hybrid_scheduler& hs) {
  // 12: whoever must know is told beside the study. Only the case waits for the letters.
  weft::case_scope the_case(hs);
  const std::vector<std::string> offices{"ethics", "safety", "press"};
  the_case.each(offices, [](const std::string& /*office*/) { /* sends a letter */ },
                {.name = "letter", .lane = weft::lane_kind::blocking});

  co_await sign(hs);
  const auto samples = co_await prepare(hs, 500);
  co_await test(hs, samples);
  co_await review(hs);
  co_await measure(hs);
  co_await search(hs);
  co_await screen(hs, samples);
  co_await call_off(hs, samples);

  co_await the_case.join();
  std::printf("12  %zu letters sent meanwhile\n", the_case.progress().values);
}

}  // namespace

int main() {
  weft::hybrid_scheduler hs;
  weft::sync_wait(study(hs));
}
