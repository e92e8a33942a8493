// What is published is what src/telemetry/schema declares, no more and no less.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <weft/telemetry/schema.hpp>

#include <metrics/everything.hpp>
#include <metrics/exposition.hpp>
#include <support/watchdog.hpp>

using namespace std::chrono_literals;

namespace {

namespace attribute = weft::telemetry::attribute;
using weft::telemetry::instrument;
using weft::telemetry::metric_schema;
using weft::test::exposed_series;
using weft::test::exposition;

const exposition& everything() {
  static const exposition seen = [] {
    const weft::test::watchdog guard(120s);
    return weft::test::parse_exposition(weft::test::scrape_everything());
  }();
  return seen;
}

std::string exposed_name(const metric_schema& m) {
  return "weft_" + std::string(m.prometheus_name);
}

std::string exposed_type(instrument kind) {
  if (kind == instrument::counter) return "counter";
  return kind == instrument::histogram ? "histogram" : "gauge";
}

// The family that a series is of.
std::string family_of(const exposed_series& s) {
  for (const std::string_view part : {"_bucket", "_sum", "_count"}) {
    if (!s.name.ends_with(part)) continue;
    const std::string family = s.name.substr(0, s.name.size() - part.size());
    const auto type = everything().types.find(family);
    if (type != everything().types.end() && type->second == "histogram") return family;
  }
  return s.name;
}

TEST(Conformance, EveryMetricThatIsDeclaredIsPublishedAsDeclared) {
  for (const metric_schema* m : weft::telemetry::metric::all) {
    const auto type = everything().types.find(exposed_name(*m));
    ASSERT_NE(type, everything().types.end()) << m->name << " is not published";
    EXPECT_EQ(type->second, exposed_type(m->kind)) << m->name;
    EXPECT_EQ(everything().helps.at(exposed_name(*m)), m->brief);
  }
}

TEST(Conformance, EveryMetricThatIsPublishedIsDeclared) {
  std::set<std::string> declared;
  for (const metric_schema* m : weft::telemetry::metric::all) declared.insert(exposed_name(*m));
  for (const auto& [name, type] : everything().types) {
    EXPECT_TRUE(declared.contains(name)) << name << " is not declared";
  }
  EXPECT_EQ(everything().types.size(), declared.size());
}

TEST(Conformance, EverySeriesHasTheAttributesOfItsMetricAndNoOthers) {
  std::map<std::string, std::set<std::string>> wanted;
  for (const metric_schema* m : weft::telemetry::metric::all) {
    auto& labels = wanted[exposed_name(*m)];
    for (std::size_t i = 0; i < m->attribute_count; ++i) {
      std::string label(m->attributes[i]);
      std::ranges::replace(label, '.', '_');
      labels.insert(label);
    }
  }
  for (const exposed_series& s : everything().series) {
    std::set<std::string> labels;
    for (const auto& [key, value] : s.labels) {
      if (key != "le") labels.insert(key);
    }
    EXPECT_EQ(labels, wanted.at(family_of(s))) << s.name;
  }
}

TEST(Conformance, AttributesWithFewValuesHaveNoOthers) {
  const std::map<std::string, std::span<const std::string_view>> allowed = {
      {"hybrid_io_engine", attribute::hybrid_io_engine_values},
      {"executor_resize_direction", attribute::executor_resize_direction_values},
      {"batch_rule_outcome", attribute::batch_rule_outcome_values},
      {"policy_reason", attribute::policy_reason_values},
      {"policy_zone", attribute::policy_zone_values},
      {"policy_gate", attribute::policy_gate_values},
      {"policy_event", attribute::policy_event_values},
  };
  std::set<std::string> seen;
  for (const exposed_series& s : everything().series) {
    for (const auto& [key, value] : s.labels) {
      const auto values = allowed.find(key);
      if (values == allowed.end()) continue;
      seen.insert(key);
      EXPECT_TRUE(std::ranges::find(values->second, value) != values->second.end())
          << key << "=" << value;
    }
  }
  EXPECT_EQ(seen.size(), allowed.size());
}

// The names of an enumeration from its first to its last value.
template <class Enum>
std::set<std::string_view> names(Enum last) {
  std::set<std::string_view> found;
  for (int i = 0; i <= static_cast<int>(last); ++i) found.insert(name(static_cast<Enum>(i)));
  return found;
}

std::set<std::string_view> set_of(std::span<const std::string_view> values) {
  return {values.begin(), values.end()};
}

TEST(Conformance, TheSchemaHasEveryValueOfTheEnumerations) {
  auto reasons = names(weft::decision_reason::config);
  reasons.merge(names(weft::adapt::sizing_reason::batch_size));
  EXPECT_EQ(set_of(attribute::policy_reason_values), reasons);
  EXPECT_EQ(set_of(attribute::policy_zone_values), names(weft::health_zone::safe));
  EXPECT_EQ(set_of(attribute::policy_gate_values), names(weft::move_gate::hold));
  EXPECT_EQ(set_of(attribute::policy_event_values), names(weft::adapt::event_kind::breaker_closed));
  std::set<std::string_view> outcomes;
  for (int i = 0; i <= static_cast<int>(weft::rule_status::skipped); ++i) {
    const auto status = static_cast<weft::rule_status>(i);
    if (status != weft::rule_status::waiting) outcomes.insert(name_of(status));
  }
  EXPECT_EQ(set_of(attribute::batch_rule_outcome_values), outcomes);
}

TEST(Conformance, HistogramsAddUp) {
  std::map<std::map<std::string, std::string>, double> last;
  for (const exposed_series& s : everything().series) {
    if (!s.name.ends_with("_bucket")) continue;
    auto labels = s.labels;
    const bool is_all = labels.at("le") == "+Inf";
    labels.erase("le");
    labels["family"] = family_of(s);
    EXPECT_GE(s.value, last[labels]) << s.name;
    last[labels] = s.value;
    if (!is_all) continue;
    auto of_series = labels;
    of_series.erase("family");
    EXPECT_EQ(everything().value(family_of(s) + "_count", of_series), s.value);
  }
  EXPECT_FALSE(last.empty());
}

}  // namespace
