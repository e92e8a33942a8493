#include <weft/core/pool.hpp>

#include "crew.hpp"
#include "job_in_context.hpp"

namespace weft {

pool::pool(pool_options options) : crew_(new detail::crew(std::move(options), *this)) {}

pool::~pool() {
  if (crew_->is_abandoned()) return;  // its threads are the parent's
  crew_->end();
  crew_->release();
}

void pool::resize(unsigned workers) { crew_->resize(workers); }
unsigned pool::workers() const noexcept { return crew_->wanted_workers(); }
unsigned pool::max_workers() const noexcept { return crew_->max_workers(); }
void pool::shutdown(shutdown_mode mode) { crew_->shutdown(mode); }
pool_stats pool::stats() const { return crew_->stats(); }
std::string pool::dump() const { return crew_->dump(); }
bool pool::observe(const std::shared_ptr<weft::observer>& o) { return crew_->observe(o); }
std::stop_token pool::stop_token() const noexcept { return crew_->stop_token(); }

pool& pool::global() {
  // Never destroyed: jobs and thread_local destructors may use it until the process is gone.
  static pool& instance = *new pool({.name = "weft-global"});
  return instance;
}

pool* pool::current() noexcept {
  detail::crew* const c = detail::current_crew();
  return c != nullptr ? &c->owner() : nullptr;
}

pool& pool::here() {
  pool* const p = current();
  return p != nullptr ? *p : global();
}

lane& lane_of(pool& p) noexcept { return detail::crew_of(p); }

namespace detail {

crew& crew_of(pool& p) noexcept { return *p.crew_; }

crew* current_crew() noexcept {
  const worker* const w = current_worker();
  return w != nullptr ? &w->home() : nullptr;
}

namespace {

[[gnu::noinline]] void submit_in_context(crew& c, queued_job& job, const char* name) {
  context here = context::current();
  if (!here) return c.submit(job, name);
  auto wrapped = std::make_unique<job_in_context>(job, std::move(here));
  c.submit(*wrapped, name);
  static_cast<void>(wrapped.release());  // it deletes itself when it has run
}

}  // namespace

void submit_job(crew& c, queued_job& job, const char* name) {
  if (running::on_this_thread().now() == running::work::none) [[likely]]
    return c.submit(job, name);
  submit_in_context(c, job, name);
}
void submit_task(crew& c, queued_job& job, const char* name) { c.submit(job, name); }
void continue_with(crew& c, queued_job& job) noexcept { c.continue_with(job); }
void require_open(crew& c, const char* name) { c.require_open(name); }
bool is_abandoned(const crew& c) noexcept { return c.is_abandoned(); }
bool is_open(const crew& c) noexcept { return c.is_open(); }
std::stop_token stop_token_of(crew& c) noexcept { return c.stop_token(); }

void report_unhandled(crew& c, std::exception_ptr error) noexcept {
  c.report_unhandled(std::move(error));
}

bool add_seat_for_blocked(crew& c) noexcept { return c.add_seat_for_blocked(); }
void remove_seat_for_blocked(crew& c) noexcept { c.remove_seat_for_blocked(); }

bool is_deterministic(const crew& c) noexcept { return c.is_deterministic(); }
std::uint32_t made_in_generation(const crew& c) noexcept { return c.made_in_generation(); }
crew_reference::crew_reference(crew& c) noexcept : crew_(c) { c.retain(); }
crew_reference::~crew_reference() { crew_.release(); }

bool must_run_inline(crew& c) noexcept {
  const worker* const w = current_worker();
  return w != nullptr && &w->home() == &c && w->at_nesting_limit();
}

void run_inline(crew& c, queued_job& job) noexcept {
  static_cast<void>(c);
  current_worker()->run_inline(job);
}

// A worker of another pool keeps its own seat: there it can help with what it is waited for, and
// two pools that call each other would otherwise wait for each other. A pool without threads has no
// choice.
seat_loan::seat_loan(crew& c) noexcept
    : worker_(current_worker() == nullptr || c.is_deterministic() ? c.borrow_worker() : nullptr) {
  if (worker_ != nullptr) before_ = occupy(worker_);
}

seat_loan::~seat_loan() {
  if (worker_ == nullptr) return;
  occupy(before_);
  worker_->home().return_worker(*worker_);
}

}  // namespace detail
}  // namespace weft
