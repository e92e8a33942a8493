#include <weft/batch/event_log.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include <weft/base/assert.hpp>

#include "batch/json_line.hpp"

namespace weft::batch {
namespace {

constexpr int log_version = 1;
constexpr std::size_t buffer_bytes = std::size_t{64} << 10U;
constexpr auto delay_max = std::chrono::milliseconds(20);

std::string reason() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe)

error_kind kind_of(int problem) {
  return problem == EACCES || problem == EPERM || problem == EROFS ? error_kind::no_permission
                                                                   : error_kind::cannot_create;
}

constexpr std::string_view id_digits = "0123456789abcdefghijklmnopqrstuv";

// As new_run_id() makes them. Others may keep files of the same extension in the directory, and
// these must be neither read nor removed.
bool is_run_id(std::string_view text) {
  constexpr std::string_view shape = "dddddddd-dddddd.ddd-xxxx";
  return std::ranges::equal(text, shape, [](char c, char wanted) {
    if (wanted == 'd') return c >= '0' && c <= '9';
    return wanted == 'x' ? id_digits.find(c) != id_digits.npos : c == wanted;
  });
}

// Who runs it and how; another when the run is resumed.
void write_manner(json_line& line, const run_record& run) {
  line.number("pid", ::getpid());
  line.number("workers", run.workers);
  line.text("policy", name_of(run.policy));
  line.truth("barriers", run.barriers);
  line.truth("fixed", run.fixed);
}

void write_plan(std::string& out, const run_record& run) {
  {
    json_line line(out);
    line.text("event", "run");
    line.number("version", log_version);
    line.text("id", run.id);
    line.text("plan", run.plan);
    line.text("file", run.plan_file);
    line.truth("partial", run.partial);
    line.number("rules", run.rules.size());
    line.seconds("started", run.started);
    write_manner(line, run);
  }
  for (const batch_record& batch : run.batches) {
    json_line line(out);
    line.text("event", "batch");
    line.text("id", batch.id);
    line.text("name", batch.name);
    line.texts("after", batch.after);
  }
  for (const rule_record& rule : run.rules) {
    json_line line(out);
    line.text("event", "rule");
    line.text("id", rule.id);
    if (!rule.name.empty()) line.text("name", rule.name);
    if (!rule.batch.empty()) line.text("batch", rule.batch);
    if (!rule.after.empty()) line.texts("after", rule.after);
    if (rule.weight != 1) line.number("weight", rule.weight);
    line.text("fingerprint", rule.fingerprint);
    line.seconds("predicted", rule.predicted);
    line.text("source", name_of(rule.source));
  }
}

}  // namespace

class event_log::file {
 public:
  file(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~file() {
    flush();
    ::close(descriptor_);
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  // Lets `compose` append lines.
  template <class Compose>
  void append(bool at_once, Compose compose) {
    const std::lock_guard lock(mutex_);
    compose(buffer_);
    const auto now = std::chrono::steady_clock::now();
    if (at_once || buffer_.size() >= buffer_bytes || now - flushed_ >= delay_max) {
      write_out();
      flushed_ = now;
    }
  }
  void flush() {
    const std::lock_guard lock(mutex_);
    write_out();
  }
  void sync() {
    const std::lock_guard lock(mutex_);
    if (::fdatasync(descriptor_) != 0 && problem_.empty()) problem_ = reason();
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::optional<std::string> problem() const {
    const std::lock_guard lock(mutex_);
    if (problem_.empty()) return std::nullopt;
    return path_ + ": " + problem_;
  }

 private:
  void write_out() {
    std::string_view rest = buffer_;
    // After a failure the log ends where it ended: a hole in the middle would be read as the truth.
    while (!rest.empty() && problem_.empty()) {
      const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
      if (written >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        problem_ = reason();
      }
    }
    buffer_.clear();
  }

  int descriptor_;
  std::string path_;
  mutable std::mutex mutex_;
  std::string buffer_;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
  std::string problem_;
};

event_log::event_log(std::unique_ptr<file> opened) : file_(std::move(opened)) {}
event_log::~event_log() = default;

result<std::unique_ptr<event_log>> event_log::create(const std::string& directory,
                                                     const run_record& run) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) {
    return fail(kind_of(failed.value()), "cannot make the directory \"" + directory +
                                             "\" for the event log: " + failed.message() +
                                             "; make it, or name another directory");
  }
  const std::string path = directory + "/" + run.id + ".jsonl";
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0) {
    return fail(kind_of(errno), "cannot make the event log \"" + path + "\": " + reason() +
                                    "; correct that, or name another directory");
  }
  // Held as long as the run lives: this is how a resumption knows.
  ::flock(descriptor, LOCK_EX | LOCK_NB);
  auto opened = std::make_unique<file>(descriptor, path);
  opened->append(true, [&](std::string& out) { write_plan(out, run); });
  return std::unique_ptr<event_log>(new event_log(std::move(opened)));
}

result<std::unique_ptr<event_log>> event_log::reopen(const std::string& path,
                                                     std::size_t complete_bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) {
    return fail(kind_of(errno), "cannot open the event log \"" + path + "\": " + reason());
  }
  auto opened = std::make_unique<file>(descriptor, path);
  const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  auto found = read_run(path);
  if (!found) return tl::unexpected<error>(found.error());
  if (!locked) {
    return fail(error_kind::try_again, "the run of \"" + path + "\" still runs, in process " +
                                           std::to_string(found->pid) +
                                           "; wait for its end or stop it");
  }
  // It may have gone on between the look at it and the lock; cutting it off would lose that.
  if (found->complete_bytes != complete_bytes) {
    return fail(error_kind::try_again, "the run of \"" + path + "\" has just ended; try again");
  }
  if (::ftruncate(descriptor, static_cast<off_t>(complete_bytes)) != 0) {
    return fail(error_kind::io_error, "cannot write the event log \"" + path + "\": " + reason());
  }
  return std::unique_ptr<event_log>(new event_log(std::move(opened)));
}

void event_log::stage(double t, std::size_t batch, unsigned workers) {
  file_->append(true, [&](std::string& out) {
    json_line line(out);
    line.text("event", "stage");
    line.seconds("t", t);
    line.number("batch", batch);
    line.number("workers", workers);
  });
}

void event_log::started(double t, std::size_t rule, unsigned worker, unsigned attempt) {
  file_->append(true, [&](std::string& out) {
    json_line line(out);
    line.text("event", "start");
    line.seconds("t", t);
    line.number("rule", rule);
    line.number("worker", worker);
    line.number("attempt", attempt);
  });
}

void event_log::repeated(std::size_t rule, const attempt_record& attempt,
                         const std::string& message) {
  file_->append(true, [&](std::string& out) {
    json_line line(out);
    line.text("event", "again");
    line.number("rule", rule);
    line.number("worker", attempt.worker);
    line.seconds("start", attempt.start);
    line.seconds("duration", attempt.duration);
    line.text("message", message);
  });
}

void event_log::finished(std::size_t rule, const rule_record& record) {
  file_->append(false, [&](std::string& out) {
    json_line line(out);
    line.text("event", "end");
    line.number("rule", rule);
    line.text("status", name_of(record.status));
    line.seconds("ready", record.ready);
    if (record.held) line.seconds("held", *record.held);
    line.seconds("start", record.start);
    line.seconds("duration", record.duration);
    line.number("worker", record.worker);
    if (record.stolen_from) line.number("stolen_from", *record.stolen_from);
    line.number("attempts", record.attempts);
    if (record.exit_code) line.number("exit_code", *record.exit_code);
    if (record.signal != 0) line.number("signal", record.signal);
    if (record.peak_rss != 0) line.number("peak_rss", record.peak_rss);
    if (record.cpu > 0) line.seconds("cpu", record.cpu);
    if (!record.message.empty()) line.text("message", record.message);
    if (!record.findings.empty()) {
      line.objects("findings", std::span<const finding>(record.findings),
                   [](json_line& each, const finding& found) {
                     each.text("file", found.file);
                     if (found.line != 0) each.number("line", found.line);
                     each.text("message", found.message);
                   });
    }
    if (!record.output.empty()) line.text("output", record.output);
  });
}

void event_log::skipped(double t, std::size_t rule, const std::string& cause) {
  file_->append(true, [&](std::string& out) {
    json_line line(out);
    line.text("event", "skip");
    line.seconds("t", t);
    line.number("rule", rule);
    line.text("cause", cause);
  });
}

void event_log::resumed(double t, const run_record& run) {
  file_->append(true, [&](std::string& out) {
    json_line line(out);
    line.text("event", "resume");
    line.seconds("t", t);
    write_manner(line, run);
  });
}

void event_log::done(double t, run_ending ending,
                     const std::vector<std::uint64_t>& steal_attempts) {
  file_->append(true, [&](std::string& out) {
    json_line line(out);
    line.text("event", "done");
    line.seconds("t", t);
    line.text("ending", name_of(ending));
    line.numbers("steal_attempts", std::span<const std::uint64_t>(steal_attempts));
  });
  file_->sync();
}

void event_log::flush() { file_->flush(); }
const std::string& event_log::path() const noexcept { return file_->path(); }
std::optional<std::string> event_log::problem() const { return file_->problem(); }

std::vector<std::string> list_runs(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code ignored;  // no directory: no runs
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".jsonl" || !is_run_id(path.stem().string())) continue;
    if (std::filesystem::is_regular_file(entry.symlink_status(ignored))) {
      found.push_back(path.string());
    }
  }
  std::ranges::sort(found, std::greater<>{});
  return found;
}

void forget_old_runs(const std::string& directory, std::size_t kept) {
  const std::vector<std::string> runs = list_runs(directory);
  for (std::size_t i = kept; i < runs.size(); ++i) {
    const int descriptor = ::open(runs[i].c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_SH | LOCK_NB) == 0) ::unlink(runs[i].c_str());
    ::close(descriptor);
  }
}

std::string new_run_id(double seconds_since_1970) {
  const auto whole = static_cast<std::time_t>(seconds_since_1970);
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  const auto millis =
      static_cast<unsigned>((seconds_since_1970 - static_cast<double>(whole)) * 1e3);
  std::string id(text, length);
  (id += '.') += std::to_string(1000 + millis % 1000).substr(1);
  id += '-';
  std::random_device random;
  for (int i = 0; i < 4; ++i) id += id_digits[random() % id_digits.size()];
  return id;
}

}  // namespace weft::batch
