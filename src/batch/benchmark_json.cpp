#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include <weft/batch/benchmark.hpp>

#include "batch/json_reason.hpp"
#include "batch/report_json.hpp"

namespace weft::batch {
namespace {

using json = nlohmann::ordered_json;

// JSON has no infinity: what is not known is null.
json number_or_null(double value) {
  return std::isfinite(value) ? json(micro(value)) : json(nullptr);
}

json interval_json(const interval& of) {
  return {
      {"mean", micro(of.mean)}, {"low", number_or_null(of.low)}, {"high", number_or_null(of.high)}};
}

json variant_json(const measured_variant& variant) {
  json made = figures_of(variant.typical);
  made["name"] = variant.how.name;
  made["mode"] = variant.how.mode;
  made["policy"] = name_of(variant.how.policy);
  made["barriers"] = variant.how.barriers;
  made["total_time"] = micro(variant.time.mean);
  made["times"] = json::array();
  for (const double time : variant.times) made["times"].push_back(micro(time));
  made["time"] = interval_json(variant.time);
  made["simulated_time"] = micro(variant.simulated);
  return made;
}

// What times can be: the page draws them.
double seconds_of(const nlohmann::json& value) {
  constexpr double longest = 1e10;  // three hundred years
  const auto seconds = value.get<double>();
  if (seconds >= 0 && seconds <= longest) return seconds;
  throw std::out_of_range(value.dump() + " is no time of a run");
}

interval interval_of(const nlohmann::json& from) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto or_infinite = [&](const char* key, double sign) {
    return from.at(key).is_null() ? sign * infinite : from.at(key).get<double>();
  };
  return {.mean = from.at("mean").get<double>(),
          .low = or_infinite("low", -1),
          .high = or_infinite("high", 1)};
}

benchmark_result parsed(const nlohmann::json& from) {
  benchmark_result made;
  made.plan = from.at("plan").get<std::string>();
  made.workers = from.at("workers").get<unsigned>();
  made.lower_bound = seconds_of(from.at("lower_bound"));
  for (const auto& each : from.at("results")) {
    measured_variant variant;
    variant.how.name = each.at("name").get<std::string>();
    variant.how.mode = each.at("mode").get<std::string>();
    for (const auto& time : each.at("times")) variant.times.push_back(seconds_of(time));
    variant.time = mean_of(variant.times);
    variant.simulated = seconds_of(each.at("simulated_time"));
    made.variants.push_back(std::move(variant));
  }
  for (const auto& each : from.at("differences")) {
    made.differences.push_back({.first = each.at("first").get<std::string>(),
                                .second = each.at("second").get<std::string>(),
                                .change = interval_of(each.at("change"))});
  }
  return made;
}

}  // namespace

std::string to_json(const benchmark_result& result) {
  json made = {{"version", 1},
               {"plan", result.plan},
               {"workers", result.workers},
               {"lower_bound", micro(result.lower_bound)},
               {"results", json::array()},
               {"differences", json::array()}};
  for (const measured_variant& each : result.variants) {
    made["results"].push_back(variant_json(each));
  }
  for (const difference& each : result.differences) {
    made["differences"].push_back({{"first", each.first},
                                   {"second", each.second},
                                   {"change", interval_json(each.change)},
                                   {"significant", each.is_significant()}});
  }
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

result<benchmark_result> read_benchmark(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const int problem = errno;
    return fail(problem == EACCES ? error_kind::no_permission : error_kind::missing_input,
                "cannot read the benchmark \"" + path +
                    "\": " + std::strerror(problem));  // NOLINT(concurrency-mt-unsafe)
  }
  try {
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const auto all = nlohmann::json::parse(text);
    if (all.at("version").get<int>() > 1) {
      return fail(error_kind::bad_data, path + ": it is of version " + all.at("version").dump() +
                                            ", and this program reads version 1; use a newer weft");
    }
    return parsed(all);
  } catch (const std::exception& problem) {
    return fail(error_kind::bad_data,
                path + ": this is no file of weft bench: " + json_reason(problem) +
                    "; give one that weft bench has written");
  }
}

}  // namespace weft::batch
