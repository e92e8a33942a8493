#include <weft/batch/profile_store.hpp>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <support/scale.hpp>
#include <support/temporary_directory.hpp>

#include "batch/profile_json.hpp"
#include "batch/profile_text.hpp"

namespace weft::batch {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr uid_t nobody = 65534;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Seconds of today, so that nothing comes from the future.
double moment(int index) { return 1.6e9 + index; }

profiles some_profiles() {
  profiles made;
  for (int i = 0; i < 30; ++i) {
    made.at({"AR001"}).add({moment(i), .001 * i, 1000U * static_cast<unsigned>(i)});
  }
  made.at({"AR001", "10-100 KB"}).add({moment(3), 1.0 / 3});
  made.at({"AR002"}).failures = 3;
  made.at({"AR002"}).timeouts = 1;
  made.at({"quo\"te\\ \n\x1b[2J größe 😀"}).add({moment(1) + .123, 1e-7});
  return made;
}

profiles one_sample(const std::string& rule, double seconds = .5) {
  profiles made;
  made.at({rule}).add({moment(0), seconds});
  return made;
}

class ProfileStore : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file() const { return directory_.path(".weft/profiles.json"); }
  void plant(std::string_view text) const { directory_.write(".weft/profiles.json", text); }

  [[nodiscard]] loaded_profiles load() const {
    auto loaded = load_profiles(file());
    if (loaded) return std::move(*loaded);
    ADD_FAILURE() << loaded.error().message;
    return {};
  }
  void add(const profiles& seen) const {
    const auto added = add_to_profiles(file(), seen);
    EXPECT_TRUE(added) << added.error().message;
    if (added) {
      EXPECT_THAT(*added, IsEmpty());
    }
  }
  [[nodiscard]] std::uint64_t count_of(const std::string& rule) const {
    const loaded_profiles loaded = load();
    const profile* found = loaded.values.find({rule});
    return found == nullptr ? 0 : found->n;
  }

  // Expects that reading and writing are both refused, and neither waits.
  void expect_refused(error_kind kind, const std::string& why) const {
    const auto loaded = load_profiles(file());
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().kind, kind) << loaded.error().message;
    EXPECT_THAT(loaded.error().message, HasSubstr(why));
    const auto added = add_to_profiles(file(), one_sample("a"));
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().kind, kind) << added.error().message;
    EXPECT_THAT(added.error().message, HasSubstr(why));
  }
  // Expects that the file is moved aside, with a warning about both names and the reason.
  void expect_quarantine(const std::string& why = {}) const {
    const std::string text = directory_.read(".weft/profiles.json");
    const loaded_profiles loaded = load();
    EXPECT_TRUE(loaded.values.empty());
    EXPECT_FALSE(loaded.read_only);
    EXPECT_THAT(loaded.warnings,
                ElementsAre(AllOf(HasSubstr(file() + " is not a profile file"),
                                  HasSubstr(file() + ".corrupt-1"), HasSubstr(why))));
    EXPECT_FALSE(std::filesystem::exists(file()));
    EXPECT_EQ(directory_.read(".weft/profiles.json.corrupt-1"), text);
    std::filesystem::remove(file() + ".corrupt-1");
  }

  test::temporary_directory directory_;
};

// Runs in a process of its own and tells whether it returned true.
bool in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// --- The file ----------------------------------------------------------------------------------

TEST_F(ProfileStore, AFileOfSomebodyElseIsRefusedAndNotMoved) {
  for (const char* const text :
       {"[[rule]]\nid = \"a\"\n", "{\"name\": \"a package\"}", "#!/bin/sh\n"}) {
    directory_.write("precious.json", text);
    const auto loaded = load_profiles(directory_.path("precious.json"));
    ASSERT_FALSE(loaded) << text;
    EXPECT_EQ(loaded.error().kind, error_kind::bad_data);
    EXPECT_THAT(loaded.error().message, HasSubstr("precious.json is not a profile file"));
    const auto added = add_to_profiles(directory_.path("precious.json"), one_sample("a"));
    EXPECT_FALSE(added);
    EXPECT_EQ(directory_.read("precious.json"), text);
  }
  // One that was ours once may have any name.
  ASSERT_TRUE(save_profiles(directory_.path("costs"), one_sample("a")));
  directory_.write("costs", directory_.read("costs").substr(0, 60));
  EXPECT_TRUE(load_profiles(directory_.path("costs")));
  EXPECT_TRUE(std::filesystem::exists(directory_.path("costs.corrupt-1")));
}

TEST_F(ProfileStore, AMissingFileIsEmptyAndNothingIsCreatedByReading) {
  const loaded_profiles loaded = load();
  EXPECT_TRUE(loaded.values.empty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_THAT(directory_.names(), IsEmpty());
}

TEST_F(ProfileStore, WhatIsAddedComesBackExactly) {
  const profiles written = some_profiles();
  add(written);
  const loaded_profiles loaded = load();
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.values.entries(), written.entries());
  EXPECT_THAT(directory_.names(".weft"), ElementsAre("profiles.json", "profiles.json.lock"));
}

TEST_F(ProfileStore, AnyDoubleComesBackExactly) {
  std::mt19937_64 dice(4);
  profiles written;
  for (int i = 0; i < 2000; ++i) {
    const double exponent = std::uniform_real_distribution<double>(-12, 9)(dice);
    const double seconds = std::min(std::pow(10, exponent), profile::longest_s);
    written.at({"r" + std::to_string(i)})
        .add({1.6e9 * std::generate_canonical<double, 53>(dice), seconds});
  }
  add(written);
  EXPECT_EQ(load().values.entries(), written.entries());
}

TEST_F(ProfileStore, TheFileHasOneLineForEachRuleAndTheNamesOfBothWorlds) {
  profiles written;
  written.at({"b"}).add({1600000000.25, .5, 4096});
  written.at({"b"}).add({1600000060, 1.5});
  written.at({"a"}).add({1600000000, .125});
  written.at({"a", "x"}).failures = 2;
  add(written);
  EXPECT_EQ(directory_.read(".weft/profiles.json"),
            R"({
"format": "weft-profiles",
"version": 1,
"profiles": {
"a": {"": {"avg_time":0.125,"failures":0,"last_updated":1600000000,"m2":0,"max":0.125,"max_time":0.125,"mean":0.125,"min":0.125,"min_time":0.125,"n":1,"p50":0.125,"p90":0.125,"peak_rss":0,"recent":[[1600000000,0.125]],"sample_count":1,"std_dev":0,"timeouts":0}, "x": {"avg_time":0,"failures":2,"last_updated":0,"m2":0,"max":0,"max_time":0,"mean":0,"min":0,"min_time":0,"n":0,"p50":0,"p90":0,"peak_rss":0,"recent":[],"sample_count":0,"std_dev":0,"timeouts":0}},
"b": {"": {"avg_time":1,"failures":0,"last_updated":1600000060,"m2":0.5,"max":1.5,"max_time":1.5,"mean":1,"min":0.5,"min_time":0.5,"n":2,"p50":0.5,"p90":1.5,"peak_rss":4096,"recent":[[1600000000.25,0.5,4096],[1600000060,1.5]],"sample_count":2,"std_dev":0.7071067811865476,"timeouts":0}}
}
}
)");
}

TEST_F(ProfileStore, AnotherLibraryReadsTheFile) {
  add(some_profiles());
  const auto document = nlohmann::json::parse(directory_.read(".weft/profiles.json"));
  const auto& entry = document["profiles"]["AR001"][""];
  EXPECT_EQ(entry["sample_count"], 30);
  EXPECT_EQ(entry["n"], 30);
  EXPECT_NEAR(entry["avg_time"].get<double>(), .0145, 1e-12);
  EXPECT_EQ(entry["max_time"], .029);
  EXPECT_EQ(entry["last_updated"], moment(29));
  EXPECT_EQ(entry["peak_rss"], 29'000);
  // And may write it: sorted, indented, with unknown members.
  auto changed = document;
  changed["comment"] = {{"profiles", 1}};
  changed["profiles"]["AR001"][""]["comment"] = {1, {2}};
  plant(changed.dump(2));
  EXPECT_TRUE(changed.dump().starts_with("{\"comment\"")) << "else this proves nothing";
  expect_quarantine("neither begins with a \"format\"");
  changed.erase("comment");
  plant(changed.dump(2));
  const loaded_profiles loaded = load();
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.values.entries(), some_profiles().entries());
}

TEST_F(ProfileStore, AnEmptySetIsAFileToo) {
  add({});
  EXPECT_TRUE(load().values.empty());
  EXPECT_THAT(load().warnings, IsEmpty());
}

TEST_F(ProfileStore, SavingReplaces) {
  add(one_sample("old"));
  ASSERT_TRUE(save_profiles(file(), one_sample("new")));
  EXPECT_EQ(count_of("old"), 0U);
  EXPECT_EQ(count_of("new"), 1U);
}

TEST_F(ProfileStore, WhatWasLoadedSavesReadingAgainUnlessSomebodyHasWrittenSince) {
  add(one_sample("a"));
  ASSERT_TRUE(add_to_profiles(file(), one_sample("a"), load()));
  EXPECT_EQ(count_of("a"), 2U);

  loaded_profiles before = load();
  add(one_sample("a"));
  ASSERT_TRUE(add_to_profiles(file(), one_sample("a"), std::move(before)));
  EXPECT_EQ(count_of("a"), 4U);

  before = load();
  std::filesystem::remove(file());
  ASSERT_TRUE(add_to_profiles(file(), one_sample("a"), std::move(before)));
  EXPECT_EQ(count_of("a"), 1U);

  before = load();
  plant("in place");
  const auto added = add_to_profiles(file(), one_sample("a"), std::move(before));
  ASSERT_TRUE(added);
  EXPECT_THAT(*added, ElementsAre(HasSubstr(".corrupt-1")));
  EXPECT_EQ(count_of("a"), 1U);
}

TEST_F(ProfileStore, AnotherFileOfTheSameSizeAndTimeIsNotTakenForTheOneThatWasLoaded) {
  add(one_sample("a"));
  loaded_profiles before = load();
  std::string other = directory_.read(".weft/profiles.json");
  other.replace(other.find("\"a\""), 3, "\"b\"");
  directory_.write(".weft/other", other);
  std::filesystem::last_write_time(directory_.path(".weft/other"),
                                   std::filesystem::last_write_time(file()));
  std::filesystem::rename(directory_.path(".weft/other"), file());
  ASSERT_TRUE(add_to_profiles(file(), one_sample("b"), std::move(before)));
  EXPECT_EQ(count_of("a"), 0U);
  EXPECT_EQ(count_of("b"), 2U);
}

TEST_F(ProfileStore, ASampleFromTheFutureCountsAsTheOldest) {
  profiles from_the_future;
  for (std::size_t i = 0; i < profile::recent_max; ++i) {
    from_the_future.at({"a"}).add({now() + 1e6, 100});
  }
  add(from_the_future);
  profiles today;
  for (int i = 0; i < 10; ++i) today.at({"a"}).add({now() - 100 + i, 1});
  add(today);
  const loaded_profiles loaded = load();
  const profile& found = *loaded.values.find({"a"});
  EXPECT_EQ(found.n, 22U);
  EXPECT_EQ(found.recent.front().when, 0);
  EXPECT_EQ(found.recent.back().seconds, 1);
  EXPECT_LT(found.estimate(), 2);
}

TEST_F(ProfileStore, ARuleWhoseIdIsNotUtf8IsLeftOutWithAWarning) {
  profiles seen = one_sample("good");
  seen.at({"bad\xff\x1b"}).add({moment(0), 1});
  seen.at({"good", "\xc3"}).add({moment(0), 1});
  const auto added = add_to_profiles(file(), seen);
  ASSERT_TRUE(added);
  EXPECT_THAT(*added, ElementsAre(AllOf(HasSubstr("UTF-8"), HasSubstr("bad\\xff\\x1b")),
                                  HasSubstr("good")));
  const loaded_profiles loaded = load();
  EXPECT_THAT(loaded.values.entries(), SizeIs(1));
  EXPECT_THAT(loaded.warnings, IsEmpty());
}

TEST_F(ProfileStore, WhereThereIsNoRoomTheRulesGoThatHaveNotRunForLongest) {
  profiles many;
  for (int i = 0; i < 100; ++i) many.at({std::to_string(i)}).add({moment((i + 50) % 100), 1});
  const detail::profile_text whole = detail::to_json(many, 1'000'000);
  EXPECT_EQ(whole.dropped, 0U);
  EXPECT_EQ(detail::to_json(many, whole.text.size()).text, whole.text);

  const detail::profile_text part = detail::to_json(many, whole.text.size() - 1);
  EXPECT_EQ(part.dropped, 10U);
  const profiles kept = detail::parse_profiles(part.text, now()).values;
  EXPECT_EQ(kept.size(), 90U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(kept.find({std::to_string(i)}) == nullptr, i >= 50 && i < 60) << i;
  }
  EXPECT_LE(detail::to_json(many, 1000).text.size(), 1000U);
  EXPECT_EQ(detail::to_json(many, 0).dropped, 100U);
}

// --- The validator's file ------------------------------------------------------------------------

constexpr std::string_view their_file = R"({
  "AR001": {"rule_id": "AR001", "avg_time": 0.5, "std_dev": 0.25, "sample_count": 5,
            "min_time": 0.1, "max_time": 1.5, "last_updated": 1600000000.5},
  "AR002": {"avg_time": 2, "std_dev": 0, "sample_count": 1, "min_time": 2, "max_time": 2,
            "last_updated": 1600000000}
})";

TEST_F(ProfileStore, ReadsTheFileOfTheValidator) {
  plant(their_file);
  const loaded_profiles loaded = load();
  EXPECT_THAT(loaded.warnings, IsEmpty());
  const profile* first = loaded.values.find({"AR001"});
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->n, 5U);
  EXPECT_EQ(first->mean, .5);
  EXPECT_EQ(first->m2, .25);
  EXPECT_EQ(first->std_dev(), .25);
  EXPECT_EQ(first->min, .1);
  EXPECT_EQ(first->max, 1.5);
  EXPECT_DOUBLE_EQ(first->estimate(), .5);
  EXPECT_EQ(first->last_updated(), 1600000000.5);
  add(one_sample("AR001", 2.5));
  EXPECT_EQ(count_of("AR001"), 6U);
  EXPECT_EQ(count_of("AR002"), 1U);
  EXPECT_TRUE(directory_.read(".weft/profiles.json").starts_with("{\n\"format\""));
}

TEST_F(ProfileStore, BadEntriesOfTheValidatorAreNamed) {
  const auto with = [](const std::string& fields) {
    return R"({"good":{"avg_time":1,"std_dev":0,"sample_count":1,"min_time":1,"max_time":1},)"
           R"("bad":{)" +
           fields + "}}";
  };
  const std::vector<std::pair<std::string, std::string>> table{
      {R"("avg_time":NaN,"std_dev":0,"sample_count":1,"min_time":1,"max_time":1)",
       "avg_time is NaN"},
      {R"("avg_time":1,"std_dev":-1,"sample_count":2,"min_time":1,"max_time":1)", "std_dev is -1"},
      {R"("avg_time":1,"std_dev":0,"sample_count":0,"min_time":1,"max_time":1)",
       "sample_count is 0"},
      {R"("avg_time":1,"std_dev":0,"sample_count":1,"min_time":2,"max_time":1)",
       "min_time is above"},
      {R"("avg_time":1,"std_dev":0,"min_time":1,"max_time":1)", "sample_count is missing"},
      {R"("avg_time":1,"std_dev":0,"sample_count":1,"min_time":1,"max_time":1,"last_updated":"x")",
       "last_updated is no number"},
  };
  for (const auto& [fields, why] : table) {
    plant(with(fields));
    const loaded_profiles loaded = load();
    EXPECT_THAT(loaded.values.entries(), SizeIs(1)) << fields;
    EXPECT_THAT(loaded.warnings, ElementsAre(AllOf(HasSubstr("\"bad\""), HasSubstr(why))))
        << fields;
  }
}

// --- Damage --------------------------------------------------------------------------------------

TEST_F(ProfileStore, AFileThatIsCutAnywhereIsMovedAsideAndTheRunGoesOn) {
  add(some_profiles());
  const std::string whole = directory_.read(".weft/profiles.json");
  ASSERT_GT(whole.size(), 1000U);
  // The last newline may be missing.
  for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
    plant(whole.substr(0, size));
    expect_quarantine();
    if (HasFailure()) FAIL() << "cut at byte " << size;
  }
  plant(whole.substr(0, whole.size() - 1));
  EXPECT_EQ(load().values.entries(), some_profiles().entries());
}

TEST_F(ProfileStore, AByteThatIsWrongAnywhereDoesNoHarm) {
  add(some_profiles());
  const std::string whole = directory_.read(".weft/profiles.json");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char wrong : {'\0', '\xff', '"', '}', '9', '-'}) {
      std::string text = whole;
      text[at] = wrong;
      const detail::parsed_profiles parsed = detail::parse_profiles(text, now());
      for (const auto& [key, values] : parsed.values.entries()) {
        EXPECT_TRUE(values.mean >= 0 && values.mean <= profile::longest_s);
        EXPECT_TRUE(values.estimate() >= 0 && values.estimate() <= 2 * profile::longest_s);
      }
    }
  }
}

TEST_F(ProfileStore, AFileThatMakesNoSenseIsMovedAside) {
  const std::string start = R"({"format":"weft-profiles","version":1,"profiles":)";
  const std::vector<std::pair<std::string, std::string>> table{
      {"", "it is empty"},
      {" \n", ""},
      {std::string(4096, '\0'), "line 1, column 1"},
      {"[]", "expected an object"},
      {"17", ""},
      {"null", ""},
      {"not json", ""},
      {R"({"a":1})", "neither begins"},
      {R"({"format":"weft-plan","version":1,"profiles":{}})", "format is not"},
      {R"({"format":"weft-profiles","profiles":{}})", "version is missing"},
      {R"({"format":"weft-profiles","version":1})", "profiles are missing"},
      {R"({"format":"weft-profiles","version":0,"profiles":{}})", "version is not"},
      {R"({"format":"weft-profiles","version":-1,"profiles":{}})", "version is not"},
      {R"({"format":"weft-profiles","version":"1","profiles":{}})", "version is not"},
      {R"({"format":"weft-profiles","version":1.5,"profiles":{}})", "version is not"},
      {R"({"format":"weft-profiles","version":1,"version":1,"profiles":{}})",
       "version is there twice"},
      {start + "{},\"profiles\":{}}", "profiles are there twice"},
      {start + "[]}", "expected an object"},
      {start + "{}} trailing", "after the end"},
      {start + "{\"a\xff\":{}}}", "not UTF-8"},
      {start + "{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}}", "nested deeper"},
      {start + "{\"a\":" + std::string(1'000'000, '[') + "}}", "nested deeper"},
  };
  for (const auto& [text, why] : table) {
    plant(text);
    expect_quarantine(why);
    if (HasFailure()) FAIL() << text.substr(0, 100);
  }
}

TEST_F(ProfileStore, AFileThatIsTooLargeIsMovedAsideAndNotRead) {
  plant("{");
  std::filesystem::resize_file(file(), (std::uintmax_t{128} << 20U) + 1);
  const loaded_profiles loaded = load();
  EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("larger than 128 MB")));
  EXPECT_TRUE(std::filesystem::exists(file() + ".corrupt-1"));
}

TEST_F(ProfileStore, WhatIsMovedAsideReplacesNothing) {
  for (int i = 1; i <= 3; ++i) {
    plant("damage " + std::to_string(i));
    static_cast<void>(load());
    EXPECT_EQ(directory_.read(".weft/profiles.json.corrupt-" + std::to_string(i)),
              "damage " + std::to_string(i));
  }
  EXPECT_EQ(directory_.read(".weft/profiles.json.corrupt-1"), "damage 1");
}

TEST_F(ProfileStore, WhatCannotBeMovedAsideIsLeftAloneWithAWarning) {
  for (int i = 1; i <= 100; ++i) {
    directory_.write(".weft/profiles.json.corrupt-" + std::to_string(i), "");
  }
  plant("damage");
  const loaded_profiles loaded = load();
  EXPECT_TRUE(loaded.read_only);
  EXPECT_THAT(loaded.warnings, ElementsAre(AllOf(HasSubstr("is not a profile file"),
                                                 HasSubstr("100 of its kind; remove them"))));
  EXPECT_EQ(directory_.read(".weft/profiles.json"), "damage");
  EXPECT_FALSE(add_to_profiles(file(), one_sample("a")));
  EXPECT_EQ(directory_.read(".weft/profiles.json"), "damage");
}

TEST_F(ProfileStore, DamageThatIsFoundWhenAddingIsToldAndNothingSeenIsLost) {
  plant("damage");
  const auto added = add_to_profiles(file(), one_sample("a"));
  ASSERT_TRUE(added);
  EXPECT_THAT(*added, ElementsAre(AllOf(HasSubstr(file()), HasSubstr(".corrupt-1"))));
  EXPECT_EQ(count_of("a"), 1U);
}

TEST_F(ProfileStore, ReadingAFileThatSomebodyNamesMovesNothing) {
  plant("my only copy");
  const auto read = read_profiles(file());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, error_kind::bad_data);
  EXPECT_THAT(read.error().message, HasSubstr(file() + " is not a profile file"));
  EXPECT_EQ(directory_.read(".weft/profiles.json"), "my only copy");
  EXPECT_EQ(read_profiles(directory_.path("none")).error().kind, error_kind::missing_input);
  EXPECT_EQ(read_profiles(directory_.path()).error().kind, error_kind::missing_input);
}

// An entry of ours in which a member is replaced by `changed`, beside one that is fine.
std::string with_member(const std::string& name, const std::string& changed) {
  std::string entry = "{";
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"n", "2"},
           {"mean", "1"},
           {"m2", "0.5"},
           {"min", "0.5"},
           {"max", "1.5"},
           {"failures", "0"},
           {"timeouts", "0"},
           {"recent", "[[1600000000,0.5],[1600000001,1.5]]"}}) {
    if (key == name && changed.empty()) continue;
    entry += (entry.size() > 1 ? ",\"" : "\"") + key + "\":" + (key == name ? changed : value);
  }
  const std::string good = R"({"n":1,"mean":1,"m2":0,"min":1,"max":1})";
  return R"({"format":"weft-profiles","version":1,"profiles":{"bad":{"":)" + entry +
         R"(}},"good":{"":)" + good + "}}}";
}

TEST_F(ProfileStore, ABadEntryIsDroppedWithItsRuleAndFieldAndTheOthersStay) {
  plant(with_member("none", ""));
  ASSERT_THAT(load().values.entries(), SizeIs(2)) << "else this proves nothing";
  const std::vector<std::pair<std::string, std::string>> table{
      {"n", ""},
      {"n", "0"},
      {"n", "-1"},
      {"n", "1.5"},
      {"n", "9223372036854775808"},
      {"n", "18446744073709551616"},
      {"n", "\"2\""},
      {"n", "null"},
      {"n", "2,\"n\":2"},
      {"mean", ""},
      {"mean", "-1"},
      {"mean", "NaN"},
      {"mean", "Infinity"},
      {"mean", "-Infinity"},
      {"mean", "1e999"},
      {"mean", "-1e999"},
      {"mean", "1.1e9"},
      {"mean", "[1]"},
      {"mean", "true"},
      {"m2", "-0.1"},
      {"m2", "NaN"},
      {"m2", "1e999"},
      {"m2", "{\"a\":[1]}"},
      {"min", "9"},
      {"min", "-1"},
      {"max", ""},
      {"max", "1e10"},
      {"failures", "-1"},
      {"failures", "1e3"},
      {"timeouts", "9223372036854775808"},
      {"recent", "{}"},
      {"recent", "[1]"},
      {"recent", "[[]]"},
      {"recent", "[[1]]"},
      {"recent", "[[1,-1]]"},
      {"recent", "[[1,NaN]]"},
      {"recent", "[[NaN,1]]"},
      {"recent", "[[-1,1]]"},
      {"recent", "[[1,\"x\"]]"},
      {"recent", "[[1,1],[1,1],[1,1]]"},
      {"recent", "[[1,1],[1,1],[1,1],[1,1],[1,1],[1,1],[1,1],[1,1],[1,1],[1,1],[1,1],[1,1],[1,1]]"},
  };
  for (const auto& [field, changed] : table) {
    plant(with_member(field, changed));
    const loaded_profiles loaded = load();
    EXPECT_THAT(loaded.values.entries(), SizeIs(1)) << field << ": " << changed;
    EXPECT_NE(loaded.values.find({"good"}), nullptr) << field << ": " << changed;
    EXPECT_THAT(loaded.warnings,
                ElementsAre(AllOf(HasSubstr(file()), HasSubstr("rule \"bad\": " + field + " is "))))
        << field << ": " << changed;
  }
}

TEST_F(ProfileStore, MinusZeroIsZero) {
  plant(with_member("min", "-0"));
  const loaded_profiles loaded = load();
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_FALSE(std::signbit(loaded.values.find({"bad"})->min));
}

TEST_F(ProfileStore, RulesThatAreThereTwiceOrAreNoObjectsAreDropped) {
  const std::string entry = R"({"n":1,"mean":1,"m2":0,"min":1,"max":1})";
  plant(R"({"format":"weft-profiles","version":1,"profiles":{"a":{"":)" + entry +
        R"(},"b":7,"a":{"":)" + entry + R"(},"c":{"x":7,"y":)" + entry + "}}}");
  const loaded_profiles loaded = load();
  EXPECT_THAT(
      loaded.warnings,
      ElementsAre(HasSubstr("\"b\": expected an object"), HasSubstr("\"a\": it is there twice"),
                  AllOf(HasSubstr("\"c\", class \"x\""), HasSubstr("expected an object"))));
  EXPECT_THAT(loaded.values.entries(), SizeIs(2));
}

TEST_F(ProfileStore, AfterFiveWarningsTheRestIsCounted) {
  std::string text = R"({"format":"weft-profiles","version":1,"profiles":{)";
  for (int i = 0; i < 12; ++i) text += "\"r" + std::to_string(i) + "\\u001b\":{\"\":{\"n\":-1}},";
  plant(text + R"("z":{}}})");
  const loaded_profiles loaded = load();
  ASSERT_THAT(loaded.warnings, SizeIs(6));
  EXPECT_THAT(loaded.warnings[4], AllOf(HasSubstr("r4\\x1b"), HasSubstr("n is -1")));
  EXPECT_THAT(loaded.warnings[5], HasSubstr("and 7 more"));
  for (const std::string& warning : loaded.warnings) EXPECT_THAT(warning, Not(HasSubstr("\x1b")));
}

TEST_F(ProfileStore, ANewerVersionIsReadAsFarAsItCanBeAndNeverWritten) {
  const std::string entry = R"({"n":1,"mean":1,"m2":0,"min":1,"max":1,"new":{"x":1}})";
  for (const std::string& text :
       {R"({"format":"weft-profiles","version":2,"profiles":{"a":{"":)" + entry + "}}}",
        R"({"format":"weft-profiles","version":2,"profiles":["another shape"]})"s}) {
    plant(text);
    const loaded_profiles loaded = load();
    EXPECT_TRUE(loaded.read_only);
    ASSERT_THAT(loaded.warnings, SizeIs(1));
    EXPECT_THAT(loaded.warnings[0],
                AllOf(HasSubstr(file()), HasSubstr("version 2"), HasSubstr("newer weft")));
    EXPECT_EQ(loaded.values.size(), text.find("another") == std::string::npos ? 1U : 0U);
    const auto added = add_to_profiles(file(), one_sample("a"));
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().kind, error_kind::bad_data);
    EXPECT_FALSE(add_to_profiles(file(), one_sample("a"), load()));
    EXPECT_EQ(directory_.read(".weft/profiles.json"), text);
  }
}

// --- What others may have put there --------------------------------------------------------------

TEST_F(ProfileStore, ADirectoryIsRefused) {
  std::filesystem::create_directories(file());
  expect_refused(error_kind::missing_input, "it is a directory; name a regular file");
}

TEST_F(ProfileStore, ANamedPipeIsRefusedWithoutWaiting) {
  std::filesystem::create_directory(directory_.path(".weft"));
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  expect_refused(error_kind::missing_input, "it is a named pipe");
  EXPECT_EQ(read_profiles(file()).error().kind, error_kind::missing_input);
}

TEST_F(ProfileStore, ALinkInPlaceOfTheFileIsRefusedAndItsTargetUnchanged) {
  directory_.write("victim", "precious");
  std::filesystem::create_directory(directory_.path(".weft"));
  std::filesystem::create_symlink(directory_.path("victim"), file());
  expect_refused(error_kind::no_permission, "is a symbolic link");
  EXPECT_FALSE(save_profiles(file(), one_sample("a")));
  EXPECT_EQ(directory_.read("victim"), "precious");
  EXPECT_TRUE(std::filesystem::is_symlink(file()));

  std::filesystem::remove(file());
  std::filesystem::create_symlink(directory_.path("nowhere"), file());
  expect_refused(error_kind::no_permission, "is a symbolic link");
  EXPECT_FALSE(std::filesystem::exists(directory_.path("nowhere")));
}

TEST_F(ProfileStore, ALinkInPlaceOfTheLockIsRefusedAndItsTargetUnchanged) {
  directory_.write("victim", "precious");
  std::filesystem::create_directory(directory_.path(".weft"));
  for (const char* target : {"victim", "nowhere"}) {
    std::filesystem::remove(file() + ".lock");
    std::filesystem::create_symlink(directory_.path(target), file() + ".lock");
    const auto added = add_to_profiles(file(), one_sample("a"));
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().kind, error_kind::no_permission);
    EXPECT_THAT(added.error().message, HasSubstr(".lock is a symbolic link"));
  }
  EXPECT_EQ(directory_.read("victim"), "precious");
  EXPECT_FALSE(std::filesystem::exists(directory_.path("nowhere")));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(ProfileStore, LinksAndLeftoversInPlaceOfTemporaryFilesAreRemovedAndNotFollowed) {
  directory_.write("victim", "precious");
  directory_.write(".weft/.profiles.json.tmp-0123456789abcdef", "half a fi");
  directory_.write(".weft/.other.json.tmp-0123456789abcdef", "not ours");
  std::filesystem::create_symlink(directory_.path("victim"),
                                  directory_.path(".weft/.profiles.json.tmp-planted"));
  add(one_sample("a"));
  EXPECT_EQ(directory_.read("victim"), "precious");
  EXPECT_THAT(directory_.names(".weft"), ElementsAre(".other.json.tmp-0123456789abcdef",
                                                     "profiles.json", "profiles.json.lock"));
}

TEST_F(ProfileStore, AHardLinkToTheFileKeepsItsContent) {
  add(one_sample("a"));
  std::filesystem::create_hard_link(file(), directory_.path("other name"));
  const std::string before = directory_.read("other name");
  add(one_sample("a"));
  EXPECT_EQ(directory_.read("other name"), before);
}

TEST_F(ProfileStore, ADirectoryInWhichEverybodyMayRenameIsRefusedUnlessItIsSticky) {
  add(one_sample("a"));
  const std::string parent = directory_.path(".weft");
  ASSERT_EQ(chmod(parent.c_str(), 0777), 0);
  expect_refused(error_kind::no_permission, "chmod o-w " + parent);
  ASSERT_EQ(chmod(parent.c_str(), 01777), 0);
  add(one_sample("a"));
  EXPECT_EQ(count_of("a"), 2U);
}

TEST_F(ProfileStore, AFileOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  add(one_sample("a"));
  ASSERT_EQ(chown(file().c_str(), nobody, nobody), 0);
  expect_refused(error_kind::no_permission, "belongs to user 65534, not to 0");
  EXPECT_TRUE(read_profiles(file())) << "to look at it is fine";
  std::filesystem::remove(file());
  ASSERT_EQ(chown((file() + ".lock").c_str(), nobody, nobody), 0);
  EXPECT_THAT(add_to_profiles(file(), one_sample("a")).error().message,
              HasSubstr(".lock belongs to user 65534"));
}

// As a user to whom permissions apply; root may read everything.
bool without_privileges(const std::function<bool()>& body) {
  return in_child([&] { return (geteuid() != 0 || setuid(nobody) == 0) && body(); });
}

TEST_F(ProfileStore, AFileThatMayNotBeReadIsToldApartFromAMissingOne) {
  add(one_sample("a"));
  if (geteuid() == 0) {
    ASSERT_EQ(chown(file().c_str(), nobody, nobody), 0);
    ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  }
  ASSERT_EQ(chmod(file().c_str(), 0), 0);
  EXPECT_TRUE(without_privileges([&] {
    const auto loaded = load_profiles(file());
    return !loaded && loaded.error().kind == error_kind::no_permission;
  }));
}

TEST_F(ProfileStore, ADirectoryThatMayNotBeWrittenIsAnError) {
  add(one_sample("a"));
  ASSERT_EQ(chmod(directory_.path(".weft").c_str(), 0555), 0);
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(file().c_str(), nobody, nobody), 0);
    ASSERT_EQ(chown((file() + ".lock").c_str(), nobody, nobody), 0);
  }
  EXPECT_TRUE(without_privileges([&] {
    const auto added = add_to_profiles(file(), one_sample("a"));
    return !added && added.error().kind == error_kind::no_permission &&
           added.error().message.find(file()) != std::string::npos;
  }));
  ASSERT_EQ(chmod(directory_.path(".weft").c_str(), 0755), 0);
}

TEST_F(ProfileStore, PathsThatNameNoFileAreRefused) {
  for (const std::string& path : {""s, directory_.path() + "/", "/"s, "a\0b"s}) {
    EXPECT_FALSE(load_profiles(path)) << path;
    EXPECT_FALSE(add_to_profiles(path, one_sample("a"))) << path;
  }
  const auto added = add_to_profiles(directory_.path("no/such/profiles.json"), one_sample("a"));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().kind, error_kind::cannot_create);
  directory_.write("file", "");
  EXPECT_FALSE(add_to_profiles(directory_.path("file/profiles.json"), one_sample("a")));
}

TEST_F(ProfileStore, PathsAreEscapedInMessages) {
  const auto loaded = load_profiles(directory_.path("evil\x1b[2J") + "/");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, AllOf(HasSubstr("evil\\x1b[2J"), Not(HasSubstr("\x1b"))));
}

// --- Permissions of the file
// -----------------------------------------------------------------------

TEST_F(ProfileStore, ANewFileFollowsTheUmaskAndAnOldOneKeepsItsPermissions) {
  const auto mode = [&] {
    struct stat status{};
    EXPECT_EQ(stat(file().c_str(), &status), 0);
    return status.st_mode & 0777U;
  };
  const mode_t old = umask(027);
  add(one_sample("a"));
  EXPECT_EQ(mode(), 0640U);
  ASSERT_EQ(chmod(file().c_str(), 0666), 0);
  add(one_sample("a"));
  EXPECT_EQ(mode(), 0666U);
  ASSERT_EQ(chmod(file().c_str(), 0600), 0);
  add(one_sample("a"));
  EXPECT_EQ(mode(), 0600U);
  umask(old);
}

// --- A full disk ---------------------------------------------------------------------------------

TEST_F(ProfileStore, AFileThatMayGrowNoFurtherStaysAsItWas) {
  add(some_profiles());
  const std::string before = directory_.read(".weft/profiles.json");
  EXPECT_TRUE(in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{before.size() / 2, before.size() / 2};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    const auto added = add_to_profiles(file(), one_sample("a"));
    return !added && added.error().kind == error_kind::io_error &&
           added.error().message.find(file()) != std::string::npos;
  }));
  EXPECT_EQ(directory_.read(".weft/profiles.json"), before);
  EXPECT_THAT(directory_.names(".weft"), ElementsAre("profiles.json", "profiles.json.lock"));
  add(one_sample("a"));
  EXPECT_EQ(count_of("a"), 1U);
}

TEST_F(ProfileStore, ADiskThatIsFullLeavesTheOldFile) {
  const std::string disk = directory_.path("disk");
  std::filesystem::create_directory(disk);
  if (mount("weft-test", disk.c_str(), "tmpfs", 0, "size=64k,mode=0755") != 0) {
    GTEST_SKIP() << "cannot mount a small file system: " << std::strerror(errno);
  }
  const std::string path = disk + "/profiles.json";
  EXPECT_TRUE(add_to_profiles(path, some_profiles()));
  const std::string before = directory_.read("disk/profiles.json");
  profiles many;
  for (int i = 0; i < 1000; ++i) many.at({"rule " + std::to_string(i)}).add({moment(i), 1});
  const auto added = add_to_profiles(path, many);
  EXPECT_FALSE(added);
  if (!added) {
    EXPECT_EQ(added.error().kind, error_kind::io_error);
    EXPECT_THAT(added.error().message, AllOf(HasSubstr(path), HasSubstr("No space left")));
  }
  EXPECT_EQ(directory_.read("disk/profiles.json"), before);
  EXPECT_THAT(directory_.names("disk"), ElementsAre("profiles.json", "profiles.json.lock"));
  EXPECT_EQ(umount(disk.c_str()), 0);
}

// --- Several processes
// -----------------------------------------------------------------------------

TEST_F(ProfileStore, EightProcessesAddUpExactly) {
  constexpr int processes = 8;
  const int updates = test::rounds(100);
  std::vector<pid_t> children;
  for (int child = 0; child < processes; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (int i = 0; i < updates; ++i) {
        profiles seen = one_sample("shared");
        seen.at({"own " + std::to_string(child)}).add({moment(i), 1});
        // Every other one trusts what it has read before.
        auto before = load_profiles(file());
        if (!before || !before->warnings.empty()) _exit(2);
        if (i % 2 == 0) *before = {};
        if (!add_to_profiles(file(), seen, std::move(*before))) _exit(1);
      }
      _exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(count_of("shared"), static_cast<std::uint64_t>(processes * updates));
  for (int child = 0; child < processes; ++child) {
    EXPECT_EQ(count_of("own " + std::to_string(child)), static_cast<std::uint64_t>(updates));
  }
  EXPECT_THAT(directory_.names(".weft"), ElementsAre("profiles.json", "profiles.json.lock"));
}

TEST_F(ProfileStore, WritersThatAreKilledLoseNothingThatWasAcknowledged) {
  std::mt19937_64 dice(test::announced_seed());
  std::uint64_t acknowledged = 0;
  const int kills = test::rounds(100);
  for (int round = 0; round < kills; ++round) {
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(pipe(pipe_ends.data()), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      while (add_to_profiles(file(), one_sample("a"))) {
        if (write(pipe_ends[1], "x", 1) != 1) break;
      }
      _exit(1);
    }
    close(pipe_ends[1]);
    // A few updates, and then any moment of the next one.
    char byte = 0;
    for (auto wanted = dice() % 4; wanted > 0; --wanted) {
      ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
      ++acknowledged;
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(dice() % 3000);
    while (std::chrono::steady_clock::now() < until) {
    }
    kill(pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed";
    while (read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
    close(pipe_ends[0]);

    const loaded_profiles loaded = load();
    EXPECT_THAT(loaded.warnings, IsEmpty());
    const std::uint64_t found = count_of("a");
    ASSERT_GE(found, acknowledged);
    // The one that was under way may have been finished and not yet told.
    ASSERT_LE(found, acknowledged + 1);
    acknowledged = found;
  }
  EXPECT_GT(acknowledged, 0U);
  add(one_sample("a"));
  EXPECT_THAT(directory_.names(".weft"), ElementsAre("profiles.json", "profiles.json.lock"));
}

}  // namespace
}  // namespace weft::batch
