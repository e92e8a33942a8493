#include <weft/batch/check.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <batch/glob.hpp>
#include <batch/input_class.hpp>
#include <support/temporary_directory.hpp>

namespace weft::batch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Check : public ::testing::Test {
 protected:
  test::temporary_directory files_;

  // "pass", or what was found.
  std::string find(const check& what) {
    const rule_result found = perform(what, files_.path(), {});
    return found.passed ? "pass" : found.message;
  }
  // "file:line message" for each.
  std::vector<std::string> findings(const check& what) {
    std::vector<std::string> found;
    for (const finding& each : perform(what, files_.path(), {}).findings) {
      found.push_back(each.file + ":" + std::to_string(each.line) + " " + each.message);
    }
    return found;
  }
  std::vector<std::string> expanded(std::string_view pattern) {
    return expand(pattern, files_.path(), {});
  }
};

TEST_F(Check, GlobsMatchNamesAndDirectories) {
  for (const char* name : {"a.cpp", "b.hpp", "src/c.cpp", "src/deep/d.cpp", ".git/e.cpp", "x/.f"}) {
    files_.write(name, "");
  }
  EXPECT_THAT(expanded("a.cpp"), ElementsAre("a.cpp"));
  EXPECT_THAT(expanded("nothing"), IsEmpty());
  EXPECT_THAT(expanded("*.cpp"), ElementsAre("a.cpp"));
  EXPECT_THAT(expanded("?.[ch]pp"), ElementsAre("a.cpp", "b.hpp"));
  EXPECT_THAT(expanded("**/*.cpp"), ElementsAre("a.cpp", "src/c.cpp", "src/deep/d.cpp"));
  EXPECT_THAT(expanded("src/**"), ElementsAre("src/c.cpp", "src/deep/d.cpp"));
  EXPECT_THAT(expanded("{a.cpp,src/{c,x}.cpp}"), ElementsAre("a.cpp", "src/c.cpp"));
  EXPECT_THAT(expanded(".git/*.cpp"), ElementsAre(".git/e.cpp"));
  EXPECT_THAT(expanded("*/c.cpp"), ElementsAre("src/c.cpp"));
  EXPECT_THAT(expanded(files_.path() + "/a.*"), ElementsAre(files_.path() + "/a.cpp"));
  EXPECT_THAT(expanded("src"), ElementsAre("src"));
}

TEST_F(Check, ALinkToItsOwnDirectoryIsNotFollowedForEver) {
  files_.write("d/a.txt", "");
  std::filesystem::create_directory_symlink(files_.path("d"), files_.path("d/loop"));
  EXPECT_THAT(expanded("**/*.txt"), ElementsAre("d/a.txt"));
}

TEST(Glob, IdsMatchAsAWhole) {
  EXPECT_TRUE(matches_glob("AR*", "AR001"));
  EXPECT_TRUE(matches_glob("*", "a/b c"));
  EXPECT_TRUE(matches_glob("{x,AR00?}", "AR001"));
  EXPECT_FALSE(matches_glob("R001", "AR001"));
}

TEST_F(Check, ExistsAndAbsent) {
  files_.write("README.md", "");
  EXPECT_EQ(find(exists{"README.md"}), "pass");
  EXPECT_EQ(find(exists{"*.md"}), "pass");
  EXPECT_EQ(find(exists{"LICENSE"}), "there is no LICENSE");
  EXPECT_EQ(find(absent{"LICENSE"}), "pass");
  EXPECT_EQ(find(absent{"*.md"}), "README.md is there");
}

TEST_F(Check, MatchesAndLacksLookAtLines) {
  files_.write("a.txt", "one\ntwo TODO\nthree\n");
  files_.write("b.txt", "one\n");
  EXPECT_EQ(find(matches{"^one$", "*.txt"}), "pass");
  EXPECT_EQ(find(matches{"^two", "*.txt"}), "b.txt: no line matches ^two");
  EXPECT_EQ(find(matches{"one\\ntwo", "a.txt"}), "a.txt: no line matches one\\ntwo");
  EXPECT_EQ(find(lacks{"TODO|FIXME", "*.txt"}), "a.txt:2: has TODO");
  EXPECT_EQ(find(lacks{"[^e]$", "b.txt"}), "pass");
  EXPECT_EQ(find(lacks{"four", "*.txt"}), "pass");
}

TEST_F(Check, APatternOverNoFilesFails) {
  EXPECT_THAT(find(matches{"x", "*.none"}), HasSubstr("no file matches *.none"));
  EXPECT_THAT(find(json_valid{"*.none"}), HasSubstr("no file matches"));
  EXPECT_THAT(find(max_size{10, "*.none"}), HasSubstr("no file matches"));
}

TEST_F(Check, MaxSizeAndCount) {
  files_.write("small", std::string(10, 'x'));
  files_.write("large", std::string(3000, 'x'));
  EXPECT_EQ(find(max_size{3000, "*"}), "pass");
  EXPECT_EQ(find(max_size{1000, "*"}), "large: 2.93 KiB, more than 1000 B");
  EXPECT_EQ(find(count{.files = "*", .at_least = 2, .at_most = 2}), "pass");
  EXPECT_EQ(find(count{.files = "*", .at_least = 3}), "*: there are 2, at least 3 expected");
  EXPECT_EQ(find(count{.files = "*", .at_most = 1}), "*: there are 2, at most 1 expected");
}

TEST_F(Check, JsonAndTomlSayWhereTheyAreWrong) {
  files_.write("good.json", R"({"a": [1, 2.5, null, "x"]})");
  files_.write("bad.json", "{\"a\": 1,\n}");
  files_.write("good.toml", "a = 1\n");
  files_.write("bad.toml", "a = 1\nb =\n");
  EXPECT_EQ(find(json_valid{"good.json"}), "pass");
  EXPECT_THAT(find(json_valid{"*.json"}), HasSubstr("bad.json: no JSON: line 2, column"));
  EXPECT_EQ(find(toml_valid{"good.toml"}), "pass");
  EXPECT_THAT(find(toml_valid{"*.toml"}), HasSubstr("bad.toml: no TOML: line 2, column"));
}

TEST_F(Check, DeepJsonDoesNotOverflow) {
  files_.write("deep.json", std::string(1'000'000, '['));
  EXPECT_THAT(find(json_valid{"deep.json"}), HasSubstr("no JSON"));
}

TEST_F(Check, DeepTomlDoesNotOverflow) {
  std::string key = "a";
  for (int i = 0; i < 1'000'000; ++i) key += ".a";
  files_.write("deep.toml", key + " = 1\n");
  files_.write("dots.toml", "a = \"" + std::string(5000, '.') + "\"\n");
  EXPECT_EQ(find(toml_valid{"dots.toml"}), "pass");
  EXPECT_EQ(find(toml_valid{"deep.toml"}),
            "deep.toml: no TOML: line 1: a key of more than 1000 parts");
}

TEST_F(Check, OnlyTheFirstFewFindingsAreShown) {
  for (int i = 0; i < 8; ++i) files_.write("f" + std::to_string(i), "");
  EXPECT_THAT(find(absent{"f*"}), HasSubstr("f4 is there\nand 3 more"));
}

TEST_F(Check, FindingsNameTheFileAndTheLine) {
  files_.write("a.txt", "one\ntwo TODO\n");
  files_.write("d/b.txt", "TODO\n");
  files_.write("x.json", "{\"a\": 1,\n}");
  files_.write("x.toml", "a = 1\nb =\n");
  EXPECT_THAT(findings(lacks{"TODO", "**/*.txt"}),
              ElementsAre("a.txt:2 has TODO", "d/b.txt:1 has TODO"));
  EXPECT_THAT(findings(matches{"one", "**/*.txt"}), ElementsAre("d/b.txt:0 no line matches one"));
  EXPECT_THAT(findings(absent{"a*"}), ElementsAre("a.txt:0 is there"));
  EXPECT_THAT(findings(max_size{9, "a*"}), ElementsAre("a.txt:0 13 B, more than 9 B"));
  EXPECT_THAT(findings(json_valid{"x.json"}), ElementsAre(HasSubstr("x.json:2 no JSON: line 2")));
  EXPECT_THAT(findings(toml_valid{"x.toml"}), ElementsAre(HasSubstr("x.toml:2 no TOML: line 2")));
  // Where there is no file there is no place either.
  EXPECT_THAT(findings(exists{"LICENSE"}), IsEmpty());
  EXPECT_THAT(findings(lacks{"one", "*.none"}), IsEmpty());
  EXPECT_THAT(findings(lacks{"four", "*.txt"}), IsEmpty());
}

TEST_F(Check, OnlyTheFirstHundredFindingsAreKept) {
  for (int i = 0; i < 120; ++i) files_.write("f" + std::to_string(i), "");
  EXPECT_EQ(findings(absent{"f*"}).size(), findings_max);
  EXPECT_THAT(find(absent{"f*"}), HasSubstr("and 115 more"));
}

TEST_F(Check, NamesWithControlCharactersAreShownEscaped) {
  files_.write("a\x1B[31m", "");
  EXPECT_EQ(find(absent{"a*"}), "a\\x1b[31m is there");
}

TEST_F(Check, AStoppedOneFails) {
  files_.write("a", "x");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(perform(matches{"x", "a"}, files_.path(), stop.get_token()).passed);
}

TEST_F(Check, AStoppedOneNeverPassesForWantOfFilesItDidNotSee) {
  files_.write("a", "x");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(perform(absent{"*"}, files_.path(), stop.get_token()).passed);
  EXPECT_FALSE(perform(count{"*", 0, 0}, files_.path(), stop.get_token()).passed);
}

TEST_F(Check, APatternWithTooManyAlternativesIsRefused) {
  std::string pattern;
  for (int i = 0; i < 9; ++i) pattern += "{a,b}";
  EXPECT_EQ(find_problem(lacks{"x", pattern}), std::nullopt);
  pattern += "{a,b}";
  EXPECT_THAT(find_problem(lacks{"x", pattern}).value_or(""), HasSubstr("more than 1000"));
}

TEST_F(Check, StarsBesideEachOtherAreNoMoreWorkThanOne) {
  std::string directories = "d";
  for (int i = 0; i < 12; ++i) directories += "/d";
  files_.write(directories + "/file", "x");
  std::string pattern;
  for (int i = 0; i < 25; ++i) pattern += "**/";
  EXPECT_EQ(find(exists{pattern + "file"}), "pass");
}

TEST_F(Check, AFifoIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(files_.path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(find(matches{"x", "pipe"}), HasSubstr("no file matches"));
}

TEST_F(Check, InputsAreClassedBySize) {
  files_.write("in/a", std::string(3000, 'x'));
  files_.write("in/b", std::string(3000, 'x'));
  EXPECT_EQ(input_class({.id = "r"}, files_.path()), "");
  EXPECT_EQ(input_class({.id = "r", .inputs = {"in/a"}}, files_.path()), "1KiB");
  EXPECT_EQ(input_class({.id = "r", .inputs = {"in/*"}}, files_.path()), "4KiB");
  EXPECT_EQ(input_class({.id = "r", .inputs = {"none"}}, files_.path()), "0");
  EXPECT_EQ(input_class({.id = "r", .cwd = "in", .inputs = {"*"}}, files_.path()), "4KiB");
}

}  // namespace
}  // namespace weft::batch
