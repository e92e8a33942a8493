#include <weft/telemetry/trace.hpp>

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "telemetry/execute_spans.hpp"
#include "telemetry/find_stalls.hpp"
#include "telemetry/trace_drawing.hpp"
#include "telemetry/trace_recorder.hpp"

namespace weft {

void trace_entry::remove() noexcept {
  if (const auto from = std::exchange(recorder_, nullptr)) from->remove(id_);
}

trace::trace(const trace_options& options)
    : recorder_(std::make_shared<telemetry::trace_recorder>(options)) {}

trace::~trace() { stop(); }

trace_entry trace::add(std::string name, pool& what) {
  return add_lanes(std::move(name), {{"", "cpu_bound", &lane_of(what)}},
                   [&what] { return what.dump(); });
}

trace_entry trace::add_lanes(std::string name, std::vector<watched_lane> lanes,
                             std::function<std::string()> dump) {
  if (name.empty()) {
    throw std::invalid_argument(
        "weft: trace::add was given an empty name, under which nobody would find the tracks; name "
        "the pool or scheduler");
  }
  std::vector<telemetry::trace_recorder::new_lane> added;
  added.reserve(lanes.size());
  for (watched_lane& l : lanes) {
    added.push_back({.about = {.scheduler = name,
                               .name = std::move(l.name),
                               .task_type = std::move(l.task_type)},
                     .what = l.what});
  }
  return {recorder_, recorder_->add(std::move(name), std::move(added), std::move(dump))};
}

void trace::start() { recorder_->start(); }
void trace::stop() noexcept { recorder_->stop(); }
trace_stats trace::stats() const { return recorder_->stats(); }

std::string trace::json() const {
  telemetry::log_book& book = recorder_->book();
  telemetry::trace_recording recording;
  recording.pages = book.read();
  recording.time = book.clock().measure();
  recording.taken = std::chrono::steady_clock::now();
  recording.lanes = recorder_->lanes();
  recording.names = book.names();
  return draw(recording);
}

namespace {

[[noreturn]] void throw_unwritten(const std::filesystem::path& file, int error) {
  throw std::system_error(error, std::generic_category(),
                          "weft: trace::write cannot write " + file.string() +
                              "; choose a directory that exists, has room and may be written to");
}

// A link leads elsewhere, and a pipe or a terminal cannot be replaced: they are written to as they
// are. A link is left to the kernel, which knows whose links it follows.
bool is_replaced(const std::filesystem::path& file) {
  std::error_code unknown;
  const auto there = std::filesystem::symlink_status(file, unknown);
  return !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
}

// 0, or why not.
int write_all(const std::filesystem::path& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (out) return 0;
  return errno != 0 ? errno : EIO;
}

}  // namespace

void trace::write(const std::filesystem::path& file) const {
  if (file.empty()) {
    throw std::invalid_argument(
        "weft: trace::write was given an empty path; name a file, such as \"program.trace.json\"");
  }
  const std::string text = json();
  if (!is_replaced(file)) {
    if (const int error = write_all(file, text); error != 0) throw_unwritten(file, error);
    return;
  }
  std::filesystem::path draft = file;
  draft += "." + to_string(new_span_id()) + ".part";  // others may write it at the same time
  int error = write_all(draft, text);
  std::error_code problem;
  if (error == 0) {
    std::filesystem::rename(draft, file, problem);
    error = problem.value();
  }
  if (error == 0) return;
  std::error_code ignored;
  std::filesystem::remove(draft, ignored);
  throw_unwritten(file, error);
}

std::vector<stall> trace::stalls(std::chrono::nanoseconds at_least) const {
  return telemetry::find_stalls(*recorder_, at_least);
}
std::string trace::dump(std::string_view name) const { return recorder_->dump(name); }

std::vector<telemetry::span> trace::take_spans() { return telemetry::take_spans(*recorder_); }

}  // namespace weft
