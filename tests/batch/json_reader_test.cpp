#include "batch/json_reader.hpp"

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <support/property.hpp>

namespace weft::batch::detail {
namespace {

using namespace std::string_view_literals;
using nlohmann::json;
using ::testing::HasSubstr;

// Builds a document, so that another reader can be compared with.
json read_value(json_reader& reader) {
  if (reader.at_object()) {
    json object = json::object();
    reader.object([&](std::string_view key) {
      const std::string copy(key);
      object[copy] = read_value(reader);
    });
    return object;
  }
  if (reader.at_array()) {
    json array = json::array();
    reader.array([&] { array.push_back(read_value(reader)); });
    return array;
  }
  if (reader.at_string()) return std::string(reader.string());
  if (reader.at_number()) {
    const std::string number(reader.number());
    if (std::isinf(std::strtod(number.c_str(), nullptr))) throw json_error("too large");
    return to_double(number);
  }
  reader.skip();
  return nullptr;
}

json read_document(std::string_view text) {
  json_reader reader(text);
  json document = read_value(reader);
  reader.finish();
  return document;
}

bool accepts(std::string_view text) {
  try {
    json_reader reader(text);
    reader.skip();
    reader.finish();
    return true;
  } catch (const json_error&) {
    return false;
  }
}

// The other library refuses numbers that are too large, which is left to the caller here.
bool accepts_and_can_hold(std::string_view text) {
  try {
    static_cast<void>(read_document(text));
    return true;
  } catch (const json_error&) {
    return false;
  }
}

std::string problem_of(std::string_view text) {
  try {
    json_reader reader(text);
    reader.skip();
    reader.finish();
  } catch (const json_error& problem) {
    return problem.what();
  }
  return "none";
}

// The same document with numbers as doubles and words as null, as read_value makes it.
json simplified(const json& document) {
  json made = document;
  if (made.is_number()) return made.get<double>();
  if (made.is_boolean()) return nullptr;
  if (made.is_structured()) {
    for (json& child : made) child = simplified(child);
  }
  return made;
}

std::string any_text_of(std::string_view alphabet, int longest) {
  std::string text;
  const int length = *rc::gen::inRange(0, longest);
  for (int i = 0; i < length; ++i) {
    text += alphabet[*rc::gen::inRange<std::size_t>(0, alphabet.size())];
  }
  return text;
}

json any_document(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 7 : 5)) {
    case 0:
      return *rc::gen::arbitrary<bool>();
    case 1:
      return nullptr;
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return *rc::gen::inRange(-1'000'000, 1'000'000) / 1024.0;
    case 4:
      return any_text_of("ab\"\\/\b\n\x01 {}[],:", 12) + "\u20ac\U0001f600";
    case 5: {
      json array = json::array();
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) array.push_back(any_document(depth - 1));
      return array;
    }
    default: {
      json object = json::object();
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        object[any_text_of("abc\"\\", 4)] = any_document(depth - 1);
      }
      return object;
    }
  }
}

TEST(JsonReader, ReadsWhatAnotherLibraryWrites) {
  EXPECT_TRUE(test::holds("documents", [] {
    const json document = any_document(4);
    RC_ASSERT(read_document(document.dump()) == simplified(document));
    RC_ASSERT(read_document(document.dump(2, ' ', true)) == simplified(document));
  }));
}

TEST(JsonReader, AcceptsExactlyWhatAnotherLibraryAccepts) {
  EXPECT_TRUE(test::holds("damaged documents", [] {
    std::string text = any_document(3).dump();
    for (int i = *rc::gen::inRange(0, 3); i > 0 && !text.empty(); --i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      const std::string piece =
          any_text_of("{}[]\",:0123456789.eE+-truefalsn\\u \n\x80\xc3\xed\xa0", 3);
      text.replace(at, *rc::gen::inRange<std::size_t>(0, 3), piece);
    }
    RC_ASSERT(accepts_and_can_hold(text) == json::accept(text));
  }));
  EXPECT_TRUE(test::holds("soup", [] {
    const std::string text = any_text_of("{}[]\"\\,:019.eE+-truefalsn u\t", 12);
    RC_ASSERT(accepts_and_can_hold(text) == json::accept(text));
  }));
}

TEST(JsonReader, KnowsTheEdgesOfTheGrammar) {
  for (const std::string_view text : {"0"sv, "-0"sv, "1e5"sv, "1E-5"sv, "0.5"sv, "\"\""sv, "[]"sv,
                                      "{}"sv, " [ 1 , 2 ] "sv, "\"\\u0041\\ud83d\\ude00\\u20ac\""sv,
                                      "{\"a\":{\"a\":1}}"sv, "true"sv, "false"sv, "null"sv}) {
    EXPECT_TRUE(accepts(text)) << text;
    EXPECT_TRUE(json::accept(text)) << text;
  }
  for (const std::string_view text : {""sv,
                                      " "sv,
                                      "01"sv,
                                      "1."sv,
                                      ".5"sv,
                                      "+1"sv,
                                      "1e"sv,
                                      "1e+"sv,
                                      "-"sv,
                                      "tru"sv,
                                      "nul"sv,
                                      "[1,]"sv,
                                      "[,]"sv,
                                      "{\"a\"}"sv,
                                      "{\"a\":}"sv,
                                      "{a:1}"sv,
                                      "{\"a\":1,}"sv,
                                      "[1 2]"sv,
                                      "1 2"sv,
                                      "\"\n\""sv,
                                      "\"\\x\""sv,
                                      "\"\\u12g4\""sv,
                                      "\"\\ud800\""sv,
                                      "\"\\ud800\\u0041\""sv,
                                      "\"\\udc00\""sv,
                                      "\"\\"sv,
                                      "\"\\u1"sv,
                                      "\"\xff\""sv,
                                      "\"\xc0\x80\""sv,
                                      "\0"sv,
                                      "[\0]"sv,
                                      "\xef\xbb\xbf{}"sv,
                                      "//"sv}) {
    EXPECT_FALSE(accepts(text)) << text;
  }
}

TEST(JsonReader, UnescapesStrings) {
  EXPECT_EQ(read_document(R"("a\"\\\/\b\f\n\r\tA\u00e9\u20ac\ud83d\ude00z")"),
            json("a\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001f600z"));
}

TEST(JsonReader, GoesAsDeepAsItsLimitAndNoDeeper) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(accepts(nested(json_reader::depth_max)));
  EXPECT_THAT(problem_of(nested(json_reader::depth_max + 1)), HasSubstr("nested deeper than 32"));
  EXPECT_FALSE(accepts(std::string(1'000'000, '[')));
  // What is closed again does not count.
  std::string wide = "[";
  for (int i = 0; i < 100; ++i) wide += "[],{},";
  EXPECT_TRUE(accepts(wide + "1]"));
}

TEST(JsonReader, SaysWhere) {
  EXPECT_EQ(problem_of("{\n  \"a\": ?\n}"), "line 2, column 8: expected a value");
  EXPECT_EQ(problem_of(""), "line 1, column 1: it is empty");
  EXPECT_EQ(problem_of("[1"), "line 1, column 3: expected ','");
}

TEST(JsonReader, ReadsTheWordsThatPythonWritesForNumbers) {
  EXPECT_TRUE(accepts("[NaN,Infinity,-Infinity]"));
  EXPECT_TRUE(std::isnan(to_double("NaN")));
  EXPECT_EQ(to_double("Infinity"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_double("-Infinity"), -std::numeric_limits<double>::infinity());
  for (const std::string_view text : {"Nan"sv, "inf"sv, "-"sv, "Infinit"sv, "-NaX"sv}) {
    EXPECT_FALSE(accepts(text)) << text;
  }
}

TEST(JsonReader, NumbersThatDoNotFitAreInfiniteOrNoCount) {
  EXPECT_EQ(to_double("1e999"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_double("0.1"), 0.1);
  EXPECT_EQ(to_count("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  for (const std::string_view text :
       {"18446744073709551616"sv, "-1"sv, "1.0"sv, "1e3"sv, "NaN"sv}) {
    EXPECT_EQ(to_count(text), std::nullopt) << text;
  }
}

TEST(JsonReader, AValueCanBeReadAgain) {
  json_reader reader(R"([{"a":[1,2]},3])");
  std::vector<double> numbers;
  reader.array([&] {
    const json_reader::place beginning = reader.here();
    if (reader.at_object()) {
      try {
        reader.object([&](std::string_view) {
          reader.array([&] { throw json_error(std::string(reader.number())); });
        });
      } catch (const json_error&) {
        reader.go_back(beginning);
        reader.skip();
      }
    } else {
      numbers.push_back(to_double(reader.number()));
    }
  });
  reader.finish();
  EXPECT_EQ(numbers, std::vector<double>{3});
}

}  // namespace
}  // namespace weft::batch::detail
