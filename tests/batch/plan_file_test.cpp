#include <weft/batch/plan_file.hpp>

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <support/temporary_directory.hpp>

namespace weft::batch {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

result<plan> parse(std::string_view text) { return parse_plan(text, "plan.toml", "dir"); }

// Everything that is wrong with a plan.
std::string problems(std::string_view text) {
  const auto parsed = parse(text);
  return parsed ? "fine" : parsed.error().message;
}

// A rule with one more line.
std::string with(std::string_view line) {
  return problems("[[rule]]\nid = \"a\"\nshell = \"true\"\n" + std::string(line) + "\n");
}

// A rule with this check.
std::string with_check(std::string_view check) {
  return problems("[[rule]]\nid = \"a\"\ncheck = " + std::string(check) + "\n");
}

TEST(PlanFile, EveryKeyIsRead) {
  const auto parsed = parse(R"(
[plan]
name = "validate"

[[batch]]
id = "foundation"

[[batch]]
id = "structure"
name = "Shard structure"
after = ["foundation"]

[[rule]]
id = "AR001"
check = { exists = "README.md" }

[[rule]]
id = "AR002"
name = "Shards"
batch = "structure"
after = ["AR001", "foundation"]
command = ["./check.sh", "shards"]
cost = "1.5s"
timeout = "30s"
retries = 2
retry_delay = "0s"
env = { LANG = "C", EMPTY = "" }
cwd = "tools"
inputs = ["shards/**"]
weight = 4
memory = "1 GiB"
tags = ["slow", "net"]
severity = "warn"
)");
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(parsed->name(), "validate");
  EXPECT_EQ(parsed->directory(), "dir");
  ASSERT_EQ(parsed->batches().size(), 2U);
  EXPECT_EQ(parsed->batches()[1].name, "Shard structure");
  EXPECT_THAT(parsed->batches()[1].after, ElementsAre("foundation"));
  ASSERT_EQ(parsed->rules().size(), 2U);
  const rule& r = parsed->rules()[1];
  EXPECT_EQ(r.name, "Shards");
  EXPECT_EQ(r.batch, "structure");
  EXPECT_THAT(r.after, ElementsAre("AR001", "foundation"));
  EXPECT_THAT(r.command, ElementsAre("./check.sh", "shards"));
  EXPECT_EQ(r.cost, 1500ms);
  EXPECT_EQ(r.timeout, 30s);
  EXPECT_EQ(r.retries, 2U);
  EXPECT_EQ(r.retry_delay, 0s);
  EXPECT_EQ(r.env.size(), 2U);
  EXPECT_EQ(r.cwd, "tools");
  EXPECT_THAT(r.inputs, ElementsAre("shards/**"));
  EXPECT_EQ(r.weight, 4U);
  EXPECT_EQ(r.memory, std::uint64_t{1} << 30U);
  EXPECT_THAT(r.tags, ElementsAre("slow", "net"));
  EXPECT_EQ(r.severity, severity::warn);
  EXPECT_EQ(std::get<exists>(*parsed->rules()[0].check).files, "README.md");
}

TEST(PlanFile, EveryCheckIsRead) {
  const auto parsed = parse(R"(
rule = [
  { id = "1", check = { exists = "a" } },
  { id = "2", check = { absent = "b" } },
  { id = "3", check = { matches = "^x", files = "c" } },
  { id = "4", check = { lacks = "y$", files = "d" } },
  { id = "5", check = { max_size = "2 KiB", files = "e" } },
  { id = "6", check = { count = "f/*", min = 1, max = 3 } },
  { id = "7", check = { json_valid = "g" } },
  { id = "8", check = { toml_valid = "h" } },
]
)");
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  const auto& rules = parsed->rules();
  EXPECT_EQ(std::get<absent>(*rules[1].check).files, "b");
  EXPECT_EQ(std::get<matches>(*rules[2].check).pattern, "^x");
  EXPECT_EQ(std::get<lacks>(*rules[3].check).files, "d");
  EXPECT_EQ(std::get<max_size>(*rules[4].check).bytes, 2048U);
  EXPECT_EQ(std::get<count>(*rules[5].check).at_least, 1U);
  EXPECT_EQ(std::get<count>(*rules[5].check).at_most, 3U);
  EXPECT_EQ(std::get<json_valid>(*rules[6].check).files, "g");
  EXPECT_EQ(std::get<toml_valid>(*rules[7].check).files, "h");
}

TEST(PlanFile, APlanWithoutAnythingIsFine) {
  EXPECT_EQ(problems(""), "fine");
  EXPECT_EQ(problems("  \n# only a comment\n"), "fine");
  EXPECT_EQ(problems("\xEF\xBB\xBF"), "fine");  // a byte order mark
  EXPECT_EQ(problems("[plan]\n"), "fine");
}

TEST(PlanFile, WhatIsNoTomlIsRefusedWithItsPlace) {
  EXPECT_THAT(problems("[[rule]]\nid = \n"), HasSubstr("plan.toml:2:"));
  EXPECT_THAT(problems(std::string("a = 1\n\0", 7)), HasSubstr("plan.toml:2:"));
  EXPECT_THAT(problems("a = \"\xFF\"\n"), HasSubstr("plan.toml:1:"));
  EXPECT_THAT(problems("[[rule]]\nid = \"a\"\nid = \"b\"\n"), HasSubstr("plan.toml:3:"));
  EXPECT_THAT(problems("a = " + std::string(10'000, '[')), HasSubstr("plan.toml:1:"));
  EXPECT_THAT(problems("a = 1e99999999999999999999"), HasSubstr("plan.toml:1:"));
  EXPECT_THAT(problems("a = 99999999999999999999"), HasSubstr("plan.toml:1:"));
}

TEST(PlanFile, AKeyWithoutEndIsRefusedAndDoesNotOverflow) {
  std::string key = "a";
  for (int i = 0; i < 1'000'000; ++i) key += ".a";
  EXPECT_EQ(problems("\n" + key + " = 1\n"), "plan.toml:2:1: a key of more than 1000 parts");
  EXPECT_EQ(problems("[" + key + "]\n"), "plan.toml:1:1: a key of more than 1000 parts");
}

TEST(PlanFile, CutOffAnywhereItIsReadOrRefusedButNothingElse) {
  const std::string whole =
      "[plan]\nname = \"p\"\n[[batch]]\nid = \"b\"\n[[rule]]\nid = \"a\"\nbatch = \"b\"\n"
      "command = [\"x\", \"y\"]\ntimeout = \"1s\"\nenv = { A = \"b\" }\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const auto parsed = parse(whole.substr(0, length));
    if (parsed) continue;
    EXPECT_THAT(parsed.error().message, HasSubstr("plan.toml:")) << length;
  }
}

TEST(PlanFile, AnUnknownKeyComesWithTheOneThatWasProbablyMeant) {
  EXPECT_EQ(with("timout = \"1s\""),
            "plan.toml:4:1: \"a\": timout: there is no such key; did you mean \"timeout\"?");
  EXPECT_EQ(problems("[[rules]]\nid = \"a\"\n"),
            "plan.toml:1:3: rules: there is no such key; did you mean \"rule\"?");
  EXPECT_THAT(problems("[plan]\nversion = 1\n"), HasSubstr("there are name"));
  EXPECT_THAT(with_check("{ exsits = \"x\" }"), HasSubstr("did you mean \"exists\"?"));
}

TEST(PlanFile, EveryWrongValueIsNamedWithWhatWasExpected) {
  const std::string duration =
      "must be a duration with its unit, such as \"30s\", \"500ms\" or \"1h30m\"";
  EXPECT_EQ(with("timeout = 30"), "plan.toml:4:11: \"a\": timeout: " + duration);
  EXPECT_EQ(with("timeout = \"30\""), "plan.toml:4:11: \"a\": timeout: " + duration);
  EXPECT_EQ(with("timeout = \"-1s\""), "plan.toml:4:11: \"a\": timeout: " + duration);
  EXPECT_EQ(with("timeout = \"0s\""),
            "plan.toml:4:11: \"a\": timeout: must be more than 0; leave it out for none");
  EXPECT_EQ(with("cost = \"x\""), "plan.toml:4:8: \"a\": cost: " + duration);
  EXPECT_EQ(with("retries = -1"),
            "plan.toml:4:11: \"a\": retries: must be a whole number between 0 and 100");
  EXPECT_EQ(with("retries = 1.5"),
            "plan.toml:4:11: \"a\": retries: must be a whole number between 0 and 100");
  EXPECT_EQ(with("weight = 0"),
            "plan.toml:4:10: \"a\": weight: must be a whole number between 1 and 1024");
  EXPECT_EQ(with("weight = \"2\""),
            "plan.toml:4:10: \"a\": weight: must be a whole number between 1 and 1024");
  EXPECT_EQ(with("memory = \"lots\""),
            "plan.toml:4:10: \"a\": memory: must be a size such as \"512 MiB\", or bytes");
  EXPECT_EQ(with("memory = -1"),
            "plan.toml:4:10: \"a\": memory: must be a size such as \"512 MiB\", or bytes");
  EXPECT_EQ(with("name = 1"), "plan.toml:4:8: \"a\": name: must be a text in quotes");
  EXPECT_EQ(with("after = \"b\""),
            "plan.toml:4:9: \"a\": after: must be a list of texts: write [\"b\"]");
  EXPECT_EQ(with("tags = [1]"), "plan.toml:4:9: \"a\": tags: must be a list of texts");
  EXPECT_EQ(with("severity = \"error\""),
            "plan.toml:4:12: \"a\": severity: must be \"fail\" or \"warn\"");
  EXPECT_EQ(with("env = [\"A=b\"]"),
            "plan.toml:4:7: \"a\": env: must be a table: write { NAME = \"value\" }");
  EXPECT_EQ(with("env = { A = 1 }"), "plan.toml:4:13: \"a\": env.A: must be a text in quotes");
  EXPECT_EQ(problems("rule = 1"), "plan.toml:1:8: rule: must be a list: write [[rule]]");
  EXPECT_EQ(problems("plan = 1"), "plan.toml:1:8: plan: must be a table: write [plan]");
  EXPECT_EQ(problems("[[rule]]\nshell = \"true\"\n"), "plan.toml:1:1: rule: id: is missing");
  EXPECT_EQ(problems("[[batch]]\n"), "plan.toml:1:1: batch: id: is missing");
}

TEST(PlanFile, ACommandLineInsteadOfAListIsExplained) {
  EXPECT_EQ(problems("[[rule]]\nid = \"a\"\ncommand = \"ls -l\"\n"),
            "plan.toml:3:11: \"a\": command: must be a list, one text for each argument; a line "
            "for the shell is written as shell = \"ls -l\"");
  EXPECT_EQ(problems("[[rule]]\nid = \"a\"\ncommand = []\n"),
            "plan.toml:3:11: \"a\": command: is empty; it needs at least a program");
}

TEST(PlanFile, EveryWrongCheckIsExplained) {
  EXPECT_THAT(with_check("\"exists\""), HasSubstr("must be a table such as"));
  EXPECT_THAT(with_check("{}"), HasSubstr("needs exactly one of"));
  EXPECT_THAT(with_check("{ exists = \"a\", absent = \"b\" }"), HasSubstr("needs exactly one of"));
  EXPECT_THAT(with_check("{ matches = \"a\" }"), HasSubstr("check.matches: needs files"));
  EXPECT_THAT(with_check("{ exists = \"a\", files = \"b\" }"), HasSubstr("check.files: belongs"));
  EXPECT_THAT(with_check("{ matches = \"(\", files = \"b\" }"),
              HasSubstr("plan.toml:3:9: \"a\": check: \"(\" is no regular expression"));
  EXPECT_THAT(with_check("{ count = \"a\" }"), HasSubstr("needs min or max"));
  EXPECT_THAT(with_check("{ count = \"a\", min = 3, max = 1 }"), HasSubstr("max is less than min"));
  EXPECT_THAT(with_check("{ exists = \"\" }"), HasSubstr("names no files"));
  EXPECT_THAT(with_check("{ exists = \"a\", min = 1 }"), HasSubstr("belong to count"));
}

TEST(PlanFile, ProblemsOfThePlanHaveTheirPlaceToo) {
  EXPECT_EQ(problems("[[rule]]\nid = \"a\"\nshell = \"true\"\nafter = [\"b\"]\n"),
            "plan.toml:4:9: \"a\": after: there is no rule or batch \"b\"");
  EXPECT_EQ(problems("[[rule]]\nid = \"a\"\n"),
            "plan.toml:1:1: \"a\": command: is missing; a rule needs one of command, shell, check");
  EXPECT_EQ(problems("[[rule]]\nid = \"\"\nshell = \"true\"\n"), "plan.toml:2:6: id: is missing");
  EXPECT_THAT(problems("[[rule]]\nid = \"a\"\nshell = \"true\"\nafter = [\"b\"]\n"
                       "[[rule]]\nid = \"b\"\nshell = \"true\"\nafter = [\"a\"]\n"),
              HasSubstr("plan.toml:4:9: \"a\": after: these wait for each other, each before the "
                        "next: a -> b -> a"));
}

TEST(PlanFile, AllProblemsAreToldAtOnceUpToTwenty) {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    text += "[[rule]]\nid = \"r" + std::to_string(i) + "\"\nretries = -1\n";
  }
  const std::string told = problems(text);
  EXPECT_EQ(std::ranges::count(told, '\n'), 20);
  EXPECT_THAT(told, HasSubstr("\nand 10 more"));
}

TEST(PlanFile, AFileIsReadAndItsDirectoryIsWhereThingsHappen) {
  const test::temporary_directory directory;
  directory.write("p.toml", "[[rule]]\nid = \"a\"\nshell = \"true\"\n");
  const auto loaded = load_plan(directory.path("p.toml"));
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(loaded->directory(), directory.path());
  EXPECT_EQ(loaded->name(), "p");
}

TEST(PlanFile, ThePlanMaySayWhereItsRulesHappen) {
  const auto directory_of = [](std::string_view cwd) {
    return parse("[plan]\ncwd = \"" + std::string(cwd) + "\"\n")->directory();
  };
  EXPECT_EQ(directory_of("../.."), "dir/../..");
  EXPECT_EQ(directory_of("/srv"), "/srv");
  EXPECT_EQ(directory_of(""), "dir");
  EXPECT_EQ(parse_plan("[plan]\ncwd = \"a\"\n", "plan.toml", "")->directory(), "a");
  EXPECT_THAT(problems("[plan]\ncwd = 1\n"), HasSubstr("plan.toml:2:7: plan: cwd: must be a text"));
  EXPECT_THAT(problems("[plan]\ncwd = \"a\\u0000\"\n"), HasSubstr("plan: cwd: has a NUL byte"));
}

TEST(PlanFile, WhatIsNoFileIsMissingInput) {
  const test::temporary_directory directory;
  for (const std::string& path : {directory.path("nothing"), directory.path()}) {
    const auto loaded = load_plan(path);
    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(loaded.error().kind, error_kind::missing_input) << loaded.error().message;
    EXPECT_THAT(loaded.error().message, HasSubstr(path));
  }
}

TEST(CommandLines, EachLineIsARuleOfItsOwn) {
  const auto made = plan_of_commands("gzip a.txt\n\n# not this\n  echo  one  two \r\nls | wc -l\n");
  ASSERT_TRUE(made.has_value());
  const auto& rules = made->rules();
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0].id, "gzip a.txt");
  EXPECT_THAT(rules[0].command, ElementsAre("gzip", "a.txt"));
  EXPECT_THAT(rules[1].command, ElementsAre("echo", "one", "two"));
  EXPECT_EQ(rules[2].shell, "ls | wc -l");
  EXPECT_TRUE(find_problems(*made).empty());
}

TEST(CommandLines, WhatOnlyAShellKnowsIsLeftToIt) {
  const auto made = plan_of_commands("exit 4\ncd sub\nexitable 4\n");
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->rules()[0].shell, "exit 4");
  EXPECT_EQ(made->rules()[1].shell, "cd sub");
  EXPECT_THAT(made->rules()[2].command, ElementsAre("exitable", "4"));
}

TEST(CommandLines, ALineThatComesAgainGetsANumber) {
  const auto made = plan_of_commands("true\ntrue\ntrue");
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->rules()[2].id, "true #3");
  EXPECT_TRUE(find_problems(*made).empty());
}

TEST(CommandLines, ANumberThatAnotherLineHasAlreadyIsPassedOver) {
  const auto made = plan_of_commands("echo #2\necho\necho\necho #2\n");
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(find_problems(*made).empty());
  EXPECT_EQ(made->rules().size(), 4U);
}

TEST(CommandLines, OddBytesGetAnIdThatCanBeShown) {
  const auto made = plan_of_commands("echo '\x1B[31m\xFF'\n" + std::string(5000, 'x') + "\n");
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(find_problems(*made).empty()) << find_problems(*made)[0].message;
  EXPECT_EQ(made->rules()[0].shell, "echo '\x1B[31m\xFF'");
  EXPECT_FALSE(plan_of_commands(std::string("a\0b\n", 4)).has_value());
}

}  // namespace
}  // namespace weft::batch
