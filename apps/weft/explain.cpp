#include "explain.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <weft/base/units.hpp>
#include <weft/base/utf8.hpp>
#include <weft/batch/explain.hpp>
#include <weft/batch/history.hpp>

#include "base/nearest.hpp"
#include "find_run.hpp"
#include "ink.hpp"
#include "refusal.hpp"
#include "show.hpp"
#include "terminal.hpp"

namespace weft::cli {
namespace {

struct options {
  std::string rule;
  std::string run;
  std::string runs = default_runs;
  std::string format = "text";
};

std::size_t must_find_rule(const run_record& record, const std::string& id) {
  const auto found = std::ranges::find(record.rules, id, &rule_record::id);
  if (found != record.rules.end()) return static_cast<std::size_t>(found - record.rules.begin());
  std::vector<std::string_view> ids;
  ids.reserve(record.rules.size());
  for (const rule_record& rule : record.rules) ids.emplace_back(rule.id);
  const std::string_view meant = base::nearest(id, ids);
  throw refusal{exit_code::missing_input,
                "the run " + record.id + " has no rule " + base::printable(id) +
                    (meant.empty() ? "; weft report --format json lists them"
                                   : "; did you mean " + base::printable(meant) + "?")};
}

// Everything there is to say about a rule.
struct subject {
  const run_record& record;
  const batch::explanation& why;
  const batch::rule_history& past;

  [[nodiscard]] const rule_record& rule() const { return record.rules[why.rule]; }
  [[nodiscard]] std::string id(std::size_t rule) const {
    return base::printable(record.rules[rule].id);
  }
};

std::string outcome(const subject& about) {
  const rule_record& rule = about.rule();
  if (rule.status == rule_status::skipped) {
    return "did not run: " + base::printable(rule.skipped_for) + ", which it needs, failed";
  }
  if (rule.status == rule_status::waiting) {
    if (about.record.ending == run_ending::none) {
      return "has not ended: the run still runs, or was killed";
    }
    return "did not run: the run ended before its turn (" +
           std::string(name_of(about.record.ending)) + ")";
  }
  std::string text =
      (rule.status == rule_status::timed_out ? "timed out" : std::string(name_of(rule.status))) +
      ", took " + format_duration(rule.duration) + " on worker " + std::to_string(rule.worker);
  if (rule.attempts > 1) text += ", attempt " + std::to_string(rule.attempts);
  if (!rule.message.empty()) {
    text += ": " + base::printable(rule.message.substr(0, rule.message.find('\n')));
  }
  return text;
}

std::string at(double when) { return formatted("%.3f s", when); }

// What it waited for, one sentence for each stretch of time.
std::vector<std::string> story(const subject& about) {
  const rule_record& rule = about.rule();
  const batch::explanation& why = about.why;
  std::vector<std::string> told;
  told.reserve(rule.earlier.size() + 4);
  for (std::size_t i = 0; i < rule.earlier.size(); ++i) {
    told.push_back("attempt " + std::to_string(i + 1) + " began at " + at(rule.earlier[i].start) +
                   " and failed after " + format_duration(rule.earlier[i].duration));
  }
  if (!rule.earlier.empty()) {
    told.push_back("ready again at " + at(rule.ready));
  } else if (why.last_before) {
    const std::size_t last = *why.last_before;
    std::string text = "ready at " + at(rule.ready) + ", when " + about.id(last) + " had ended";
    if (why.before > 1)
      text += ", the last of the " + counted(why.before, "rule") + " it waits for";
    told.push_back(text);
  } else {
    told.push_back("ready at " + at(rule.ready) +
                   (why.before == 0 ? ": it waits for no rule" : ""));
  }
  if (why.waited_for_worker >= 0.0005) {
    std::string text = "waited " + format_duration(why.waited_for_worker) + " for a worker";
    if (!why.overtook.empty()) {
      text += "; " + counted(why.overtook.size(), "rule") + " began first";
      if (why.overtook.size() <= 3) {
        text += ":";
        for (const std::size_t other : why.overtook) text += " " + about.id(other);
      } else {
        text += ", " + about.id(why.overtook.front()) + " to " + about.id(why.overtook.back());
      }
    }
    told.push_back(text);
  }
  if (why.waited_for_room >= 0.0005) {
    told.push_back("waited " + format_duration(why.waited_for_room) +
                   " for room: memory, weight or load did not allow it beside what ran");
  }
  std::string start = "began at " + at(rule.start);
  if (why.made_way && why.waited_for_worker + why.waited_for_room >= 0.0005) {
    start += ", when " + about.id(*why.made_way) + " had ended on its worker";
  }
  if (rule.stolen_from) start += ", stolen from worker " + std::to_string(*rule.stolen_from);
  told.push_back(start);
  return told;
}

std::string importance(const subject& about) {
  const batch::explanation& why = about.why;
  if (why.is_critical) {
    return "none: it is on the critical path, which each second more would make a second longer";
  }
  return format_duration(why.slack) +
         ": so much slower it could be without making the critical path longer";
}

std::string prediction(const rule_record& rule) {
  const char* const sources[] = {"its profile", "its hint in the plan", "similar rules",
                                 "a guess, for want of anything better"};
  std::string text =
      format_duration(rule.predicted) + ", from " + sources[static_cast<std::size_t>(rule.source)];
  if (!has_run(rule.status)) return text;
  text += "; took " + format_duration(rule.duration);
  if (rule.predicted > 0)
    text += formatted(" (%+.0f %%)", 100 * (rule.duration / rule.predicted - 1));
  return text;
}

// The times of the runs, the oldest first, as a row of bars.
std::string sparkline(const batch::rule_history& past, const terminal& look) {
  constexpr const char* levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double longest = 0;
  for (const batch::past_run& each : past.runs) longest = std::max(longest, each.duration);
  std::string text;
  if (!look.unicode || longest <= 0) return text;
  for (const batch::past_run& each : past.runs) {
    const auto level =
        std::min<std::size_t>(7, static_cast<std::size_t>(8 * each.duration / longest));
    text += painted(levels[level], is_failure(each.status) ? ink::red : ink::none, look);
  }
  return text;
}

std::string history_line(const subject& about) {
  const batch::rule_history& past = about.past;
  if (past.runs.empty()) return "has never run to its end";
  std::string text = counted(past.runs.size(), "run") + ": half took at most " +
                     format_duration(past.p50()) + ", nine in ten " + format_duration(past.p90());
  const double trend = past.trend();
  if (trend > 1.2) text += formatted("; of late %.1f times as long", trend);
  if (trend < 1 / 1.2) text += formatted("; of late %.1f times as fast", 1 / trend);
  if (past.flake_rate() > 0) text += formatted("; flaky in %.0f %%", 100 * past.flake_rate());
  if (past.failure_rate() > 0) text += formatted("; failed in %.0f %%", 100 * past.failure_rate());
  return text;
}

std::string as_text(const subject& about, const terminal& look) {
  const rule_record& rule = about.rule();
  std::string head = base::printable(rule.id);
  if (!rule.name.empty() && rule.name != rule.id) head += ", " + base::printable(rule.name);
  head +=
      ", in run " + base::printable(about.record.id) + " of " + base::printable(about.record.plan);
  std::string text = wrapped(head, look.columns, 2) + "\n\n";
  const auto line = [&](const char* name, const std::string& value) {
    text += wrapped(formatted("%-11s ", name) + value, look.columns, 12) + "\n";
  };
  line("Outcome", outcome(about));
  if (has_run(rule.status)) {
    const char* name = "Start";
    for (const std::string& sentence : story(about)) {
      line(name, sentence);
      name = "";
    }
    line("Slack", importance(about));
  }
  if (about.why.released > 0)
    line("Then", "its end made " + counted(about.why.released, "rule") + " ready");
  line("Predicted", prediction(rule));
  line("History", history_line(about));
  const std::string bars = sparkline(about.past, look);
  if (!bars.empty() && about.past.runs.size() > 1) text += formatted("%-11s ", "") + bars + "\n";
  return text;
}

std::string as_json(const subject& about) {
  using json = nlohmann::ordered_json;
  const rule_record& rule = about.rule();
  const batch::explanation& why = about.why;
  const auto id_or_null = [&](const std::optional<std::size_t>& index) {
    return index ? json(about.record.rules[*index].id) : json(nullptr);
  };
  json overtook = json::array();
  for (const std::size_t other : why.overtook) overtook.push_back(about.record.rules[other].id);
  json runs = json::array();
  for (const batch::past_run& each : about.past.runs) {
    runs.push_back(
        {{"run", each.run}, {"duration", each.duration}, {"status", name_of(each.status)}});
  }
  const bool ran = has_run(rule.status);
  json made = {{"run", about.record.id},
               {"rule", rule.id},
               {"status", name_of(rule.status)},
               {"ready", ran ? json(rule.ready) : json(nullptr)},
               {"start", ran ? json(rule.start) : json(nullptr)},
               {"duration", ran ? json(rule.duration) : json(nullptr)},
               {"predicted", rule.predicted},
               {"predicted_from", name_of(rule.source)},
               {"after_count", why.before},
               {"made_ready_by", id_or_null(why.last_before)},
               {"waited_for_worker", why.waited_for_worker},
               {"waited_for_room", why.waited_for_room},
               {"began_first", std::move(overtook)},
               {"worker_freed_by", id_or_null(why.made_way)},
               {"slack", why.slack},
               {"critical", why.is_critical},
               {"released_count", why.released},
               {"history", std::move(runs)}};
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

int explain_rule(const options& given) {
  const run_record record = must(find_run(given.run, given.runs)).record;
  const std::size_t rule = must_find_rule(record, given.rule);
  const batch::explanation why = batch::explain(record, rule);
  const batch::history all = batch::read_history(given.runs, record);
  const batch::rule_history* const past = all.find(given.rule);
  const batch::rule_history none;
  const subject about{record, why, past == nullptr ? none : *past};
  std::cout << (given.format == "json" ? as_json(about) : as_text(about, standard_output()));
  return exit_code::ok;
}

constexpr const char* epilogue =
    R"(Slack is how much slower a rule could be, with workers for all, before the whole
run gets longer. To make a run faster, look at rules without slack first; weft
plan says which of them pay.

Exit status: 0, 2 for wrong usage, 65 for a file that is no log of a run or is
of a newer version, 66 for a run or rule that is not there.)";

}  // namespace

void add_explain(CLI::App& app, int& status) {
  const auto given = std::make_shared<options>();
  CLI::App& command = *app.add_subcommand("explain", "Say why a rule began when it did");
  command.add_option("RULE", given->rule, "Its id")->required()->option_text(" ");
  command.add_option("--run", given->run, "Log or id of the run, or the beginning of one")
      ->option_text("RUN [newest]");
  command.add_option("--runs", given->runs, "Where the logs of runs are")
      ->option_text("DIRECTORY [.weft/runs]");
  command.add_option("--format", given->format, "How to say it")
      ->option_text("text|json [text]")
      ->check(CLI::IsMember({"text", "json"}));
  command.footer(epilogue);
  command.callback(
      [given, &status] { status = guarded("explain", [&] { return explain_rule(*given); }); });
}

}  // namespace weft::cli
