#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace weft::test {

// A trace, read back as a viewer would. Times are in microseconds.
class drawn_trace {
 public:
  struct slice {
    std::string name;
    std::string category;
    std::string scheduler;
    std::string track;
    double begin = 0;
    double end = 0;
    nlohmann::json arguments;
  };
  struct arrow {
    std::string name;
    std::string from;  // tracks
    std::string to;
  };
  struct counted {
    std::string scheduler;
    std::string name;
    double at = 0;
    long queued = 0;
    long running = 0;
  };

  explicit drawn_trace(const std::string& text) {
    const nlohmann::json document = nlohmann::json::parse(text);
    for (const auto& e : document.at("traceEvents")) {
      if (e.at("ph") == "M") read_name(e);
    }
    for (const auto& e : document.at("traceEvents")) read(e);
    expect_well_formed();
  }

  [[nodiscard]] std::size_t count(std::string_view category) const {
    std::size_t n = 0;
    for (const slice& s : slices) n += s.category == category ? 1 : 0;
    return n;
  }
  [[nodiscard]] std::size_t count_named(std::string_view name) const {
    std::size_t n = 0;
    for (const slice& s : slices) n += s.name == name ? 1 : 0;
    return n;
  }
  [[nodiscard]] const slice* find(std::string_view name) const {
    for (const slice& s : slices) {
      if (s.name == name) return &s;
    }
    return nullptr;
  }
  [[nodiscard]] std::size_t arrows_named(std::string_view name) const {
    std::size_t n = 0;
    for (const arrow& a : arrows) n += a.name == name ? 1 : 0;
    return n;
  }

  std::vector<slice> slices;
  std::vector<arrow> arrows;
  std::vector<counted> counters;

 private:
  using track_id = std::pair<int, long>;
  struct end_of_arrow {
    track_id track;
    double at = 0;
  };

  void read_name(const nlohmann::json& e) {
    const std::string kind = e.at("name");
    if (kind == "process_name") processes_[e.at("pid")] = e.at("args").at("name");
    if (kind == "thread_name") tracks_[{e.at("pid"), e.at("tid")}] = e.at("args").at("name");
  }

  void read(const nlohmann::json& e) {
    const std::string phase = e.at("ph");
    if (phase == "M") return;
    const int process = e.at("pid");
    ASSERT_TRUE(processes_.contains(process)) << e;
    if (phase == "C") {
      counters.push_back({.scheduler = processes_[process],
                          .name = e.at("name"),
                          .at = e.at("ts"),
                          .queued = e.at("args").at("queued"),
                          .running = e.at("args").at("running")});
      return;
    }
    const track_id track{process, e.at("tid")};
    ASSERT_TRUE(tracks_.contains(track)) << e;
    if (phase == "X") {
      const double begin = e.at("ts");
      slices.push_back({.name = e.at("name"),
                        .category = e.at("cat"),
                        .scheduler = processes_[process],
                        .track = tracks_[track],
                        .begin = begin,
                        .end = begin + e.at("dur").get<double>(),
                        .arguments = e.value("args", nlohmann::json::object())});
      on_track_[track].push_back(slices.back());
    } else if (phase == "s") {
      starts_[e.at("id")] = {.track = track, .at = e.at("ts")};
    } else {
      ASSERT_EQ(phase, "f") << e;
      const end_of_arrow from = starts_.at(e.at("id"));
      arrows.push_back({.name = e.at("name"), .from = tracks_[from.track], .to = tracks_[track]});
      ends_.push_back({from, {.track = track, .at = e.at("ts")}});
    }
  }

  // What a viewer needs in order to show it: slices of a track nest, arrows begin and end in one.
  void expect_well_formed() const {
    constexpr double rounding = 0.002;  // two digits of a nanosecond
    for (const auto& [track, all] : on_track_) {
      std::vector<const slice*> open;
      for (const slice& s : all) {
        EXPECT_GE(s.end, s.begin) << s.name;
        while (!open.empty() && open.back()->end <= s.begin + rounding) open.pop_back();
        if (!open.empty()) {
          EXPECT_LE(s.end, open.back()->end + rounding) << s.name << " in " << open.back()->name;
        }
        open.push_back(&s);
      }
    }
    for (const auto& [from, to] : ends_) {
      EXPECT_TRUE(is_covered(from, rounding)) << tracks_.at(from.track) << " at " << from.at;
      EXPECT_TRUE(is_covered(to, rounding)) << tracks_.at(to.track) << " at " << to.at;
      EXPECT_LE(from.at, to.at + rounding);
    }
    for (const counted& c : counters) {
      EXPECT_GE(c.queued, 0);
      EXPECT_GE(c.running, 0);
    }
  }

  [[nodiscard]] bool is_covered(const end_of_arrow& at, double rounding) const {
    const auto found = on_track_.find(at.track);
    if (found == on_track_.end()) return false;
    for (const slice& s : found->second) {
      if (s.begin <= at.at + rounding && at.at <= s.end + rounding) return true;
    }
    return false;
  }

  std::map<int, std::string> processes_;
  std::map<track_id, std::string> tracks_;
  std::map<track_id, std::vector<slice>> on_track_;  // in the order of the document
  std::map<long, end_of_arrow> starts_;
  std::vector<std::pair<end_of_arrow, end_of_arrow>> ends_;
};

}  // namespace weft::test
