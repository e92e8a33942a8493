#include "otlp/export_loop.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include <weft/base/assert.hpp>
#include <weft/metrics/metrics.hpp>
#include <weft/telemetry/trace.hpp>

#include "io/quiet_thread.hpp"
#include "otlp/check_options.hpp"

namespace weft::otlp {
namespace {

// A longer one is not sent: receivers refuse it.
constexpr std::size_t request_max = std::size_t{64} << 20U;

otlp_options checked(otlp_options options) {
  check_options(options);
  return options;
}

std::string counted(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what;
}

std::string seconds(std::chrono::milliseconds pause) {
  const auto tenths = (pause.count() + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

export_loop::export_loop(otlp_options options)
    : options_(checked(std::move(options))),
      about_{.service_name = options_.service_name, .attributes = options_.resource},
      to_(parse_endpoint(options_.endpoint, "otlp_options::endpoint")),
      client_(to_, options_.headers),
      next_reading_(clock::now() + options_.interval),
      outbox_(options_.spans_max),
      thread_(io::start_quiet_thread("weft-otlp", [this] { run(); })) {}

export_loop::~export_loop() { WEFT_ASSERT(!thread_.joinable(), "its exporter ends the thread"); }

std::uint64_t export_loop::add(source what) {
  const std::lock_guard lock(reading_);
  for (const auto& [id, present] : sources_) {
    if (present == what) {
      throw std::invalid_argument(
          "weft: otlp_exporter::add was given what it has already, which would be sent twice; keep "
          "the first entry");
    }
  }
  if (sources_.size() >= otlp_exporter::entries_max) {
    throw std::length_error("weft: otlp_exporter has " + std::to_string(sources_.size()) +
                            " entries already; add the pools to one trace and one metrics, and "
                            "those here");
  }
  const std::uint64_t id = next_id_++;
  sources_.emplace(id, what);
  return id;
}

void export_loop::remove(std::uint64_t id) noexcept {
  const std::lock_guard lock(reading_);
  const auto found = sources_.find(id);
  if (found == sources_.end()) return;
  try {
    read(id, found->second);
  } catch (const std::exception& error) {
    keep_unread(error);
  }
  sources_.erase(found);
}

// In the middle of something: on_error might want to know more than can be had there.
void export_loop::keep_unread(const std::exception& error) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    last_error_ = std::string("weft: OTLP: not read: ") + error.what();
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
    // The one before stays.
  }
}

// Under reading_.
void export_loop::read(std::uint64_t id, source from) {
  if (auto* const* t = std::get_if<trace*>(&from)) {
    std::vector<telemetry::span> spans = (*t)->take_spans();
    // A receiver refuses those.
    std::erase_if(spans, [](const telemetry::span& s) { return !s.trace || !s.id; });
    const std::lock_guard lock(mutex_);
    outbox_.add(std::move(spans));
    return;
  }
  reading made{.source = id, .at = {}, .values = std::get<metrics*>(from)->read(), .order = 0};
  made.at = std::chrono::system_clock::now();
  if (made.values.empty()) return;
  const std::lock_guard lock(mutex_);
  outbox_.add(std::move(made));
}

void export_loop::read_everything() {
  const std::lock_guard lock(reading_);
  for (const auto& [id, from] : sources_) read(id, from);
}

void export_loop::read_if_due() {
  const auto began = clock::now();
  if (began < next_reading_) return;
  next_reading_ = began + options_.interval;
  read_everything();
  // Where reading takes longer than that, sending has as much time as reading.
  next_reading_ = std::max(next_reading_, clock::now() + (clock::now() - began));
  const std::lock_guard lock(mutex_);
  // A pause that a failure has begun goes on.
  for (signal* s : {&spans_, &points_}) s->due = s->due.value_or(clock::now());
}

bool export_loop::flush(std::chrono::milliseconds limit) {
  if (std::this_thread::get_id() == thread_.get_id()) return false;
  const auto end = clock::now() + std::clamp<std::chrono::milliseconds>(
                                      limit, std::chrono::milliseconds(0), std::chrono::hours(24));
  read_everything();
  std::unique_lock lock(mutex_);
  const auto lost = [&] {
    const otlp_counts s = outbox_.spans();
    const otlp_counts p = outbox_.points();
    return s.dropped + s.rejected + p.dropped + p.rejected;
  };
  const outbox::mark now = outbox_.now();
  const std::uint64_t lost_before = lost();
  spans_.due = points_.due = clock::now();
  changed_.notify_all();
  const bool is_done =
      changed_.wait_until(lock, end, [&] { return is_ending_ || outbox_.is_past(now); });
  return is_done && outbox_.is_past(now) && lost() == lost_before;
}

otlp_stats export_loop::stats() const {
  const std::lock_guard lock(mutex_);
  return {.spans = outbox_.spans(),
          .points = outbox_.points(),
          .requests = requests_,
          .failed_requests = failed_requests_,
          .last_error = last_error_};
}

void export_loop::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    end_by_ = clock::now() + options_.shutdown_timeout;
    changed_.notify_all();
  }
  client_.wake();
  thread_.join();
  const std::lock_guard lock(reading_);
  sources_.clear();
}

void export_loop::run() noexcept {
  std::unique_lock lock(mutex_);
  run_until_stopped(lock);
  send_the_rest(lock);
}

export_loop::clock::time_point export_loop::next_event() const noexcept {
  clock::time_point next = next_reading_;
  for (const signal* s : {&spans_, &points_}) next = std::min(next, s->due.value_or(next));
  return next;
}

void export_loop::run_until_stopped(std::unique_lock<std::mutex>& lock) {
  while (!is_ending_) {
    if (clock::now() < next_event()) {
      changed_.wait_until(lock, next_event());
      continue;
    }
    try {
      lock.unlock();
      read_if_due();
      lock.lock();
      if (spans_.due && clock::now() >= *spans_.due) send_spans(lock);
      if (points_.due && clock::now() >= *points_.due) send_reading(lock);
    } catch (const std::exception& error) {
      if (!lock.owns_lock()) lock.lock();
      // Memory was short. The next round finds more, or tells again.
      outbox_.drop_taken();
      for (signal* s : {&spans_, &points_}) s->due.reset();
      tell(std::string("weft: OTLP: not exported: ") + error.what(), lock);
    }
    changed_.notify_all();
  }
}

void export_loop::send_the_rest(std::unique_lock<std::mutex>& lock) {
  try {
    lock.unlock();
    read_everything();
    lock.lock();
    while (clock::now() < end_by_ && send_spans(lock) == result::settled) {
    }
    while (clock::now() < end_by_ && send_reading(lock) == result::settled) {
    }
  } catch (const std::exception& error) {
    if (!lock.owns_lock()) lock.lock();
    tell(std::string("weft: OTLP: not exported at the end: ") + error.what(), lock);
  }
  const std::uint64_t spans = outbox_.spans().waiting;
  const std::uint64_t points = outbox_.points().waiting;
  outbox_.drop_everything();
  if (spans + points > 0) {
    tell("weft: OTLP: http://" + to_.host_header + to_.path + ": the exporter ends with " +
             counted(spans, spans_.what) + " and " + counted(points, points_.what) +
             " that were not sent; it tries once, for otlp_options::shutdown_timeout at most. If "
             "the "
             "collector is there and slow, raise that, or call flush() before",
         lock);
  }
  changed_.notify_all();
}

export_loop::result export_loop::send_spans(std::unique_lock<std::mutex>& lock) {
  std::vector<telemetry::span> batch = outbox_.take_spans(options_.batch_size);
  if (batch.empty()) {
    spans_.due.reset();
    return result::nothing_to_send;
  }
  lock.unlock();
  const judgement j = send(spans_, spans_json(batch, about_));
  lock.lock();
  const std::size_t count = batch.size();
  switch (j.what) {
    case verdict::taken:
      outbox_.settle_spans(count, j.rejected);
      break;
    case verdict::later:
      outbox_.give_back(std::move(batch));
      break;
    case verdict::refused:
      outbox_.drop_spans(count);
      break;
  }
  return conclude(spans_, j, count, lock);
}

export_loop::result export_loop::send_reading(std::unique_lock<std::mutex>& lock) {
  std::optional<reading> taken = outbox_.take_reading();
  if (!taken) {
    points_.due.reset();
    return result::nothing_to_send;
  }
  lock.unlock();
  const judgement j = send(points_, metrics_json(taken->values, taken->at, about_));
  lock.lock();
  const std::uint64_t count = taken->points();
  switch (j.what) {
    case verdict::taken:
      outbox_.settle_reading(*taken, j.rejected);
      break;
    case verdict::later:
      outbox_.give_back(*std::move(taken));
      break;
    case verdict::refused:
      outbox_.drop_reading(*taken);
      break;
  }
  return conclude(points_, j, count, lock);
}

judgement export_loop::send(const signal& as, std::string body) {
  if (body.size() > request_max) {
    return {.what = verdict::refused,
            .rejected = 0,
            .pause = {},
            .problem = "was not sent: it has " + std::to_string(body.size() >> 20U) +
                       " MiB, and receivers take 64; lower otlp_options::batch_size, or give "
                       "shorter names"};
  }
  const auto began = clock::now();
  const http_client::outcome made =
      client_.post(as.path, std::move(body), [&] { return how_long(began + options_.timeout); });
  if (made.answer) {
    return judge(*made.answer, as.rejected_name,
                 std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  }
  return {.what = made.may_retry ? verdict::later : verdict::refused,
          .rejected = 0,
          .pause = {},
          .problem = made.problem};
}

// Readings keep their interval while a collector hangs: the trace forgets what nobody takes.
patience export_loop::how_long(clock::time_point end) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (is_ending_) return {.end = std::min(end, end_by_)};
  }
  try {
    read_if_due();
  } catch (const std::exception& error) {
    keep_unread(error);
  }
  return {.end = end, .next = next_reading_};
}

// Under mutex_, which tell() gives up for a while.
export_loop::result export_loop::conclude(signal& of, const judgement& j, std::uint64_t count,
                                          std::unique_lock<std::mutex>& lock) {
  ++requests_;
  if (j.what != verdict::taken) ++failed_requests_;
  std::string message = j.problem.empty() ? "" : "weft: OTLP: " + address_of(of) + ": " + j.problem;
  of.due = clock::now();
  if (j.what == verdict::later) {
    const double random = std::uniform_real_distribution<>(0, 1)(random_);
    const auto own = backoff(++of.failures, options_.backoff_first, options_.backoff_max, random);
    // The collector may ask for haste once; then ours is the least.
    const auto pause = !j.pause ? own : of.failures == 1 ? *j.pause : std::max(*j.pause, own);
    of.due = clock::now() + pause;
    message +=
        " (" + counted(count, of.what) + " wait, the next attempt is in " + seconds(pause) + ")";
  } else {
    of.failures = 0;
    if (j.what == verdict::refused) message += " (" + counted(count, of.what) + " are dropped)";
  }
  if (!message.empty()) tell(message, lock);
  changed_.notify_all();
  return j.what == verdict::later ? result::failed : result::settled;
}

void export_loop::tell(const std::string& message, std::unique_lock<std::mutex>& lock) {
  last_error_ = message;
  if (!options_.on_error) return;
  lock.unlock();
  options_.on_error(message);
  lock.lock();
}

std::string export_loop::address_of(const signal& s) const {
  return "http://" + to_.host_header + to_.path + s.path;
}

}  // namespace weft::otlp
