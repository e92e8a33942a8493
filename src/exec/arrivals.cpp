#include <weft/exec/arrivals.hpp>

#include <utility>

namespace weft::detail {

arrivals::arrivals(std::vector<future_state_base*> futures, const char* name)
    : futures_(std::move(futures)),
      each_(std::make_unique<arrival[]>(futures_.size())),
      name_(name) {
  for (const future_state_base* f : futures_) require_reachable(*f);
  for (std::size_t i = 0; i < futures_.size(); ++i) {
    each_[i].owner = this;
    home_ = &futures_[i]->home();
    drive_ = drive_ || futures_[i]->needs_driving();
    if (!futures_[i]->done().try_register(each_[i])) ready_.push(each_[i]);
  }
}

void arrivals::require_reachable(const future_state_base& f) const {
  if (!f.done().is_set()) f.require_same_process(name_);
}

arrivals::~arrivals() {
  if (process_ != process_generation()) return;  // nobody will set what is not set by now
  // One that cannot be taken back has come, or is about to: its setter holds our address till then.
  std::size_t coming = 0;
  for (std::size_t i = 0; i < futures_.size(); ++i) {
    if (!each_[i].told && !futures_[i]->done().try_unregister(each_[i])) ++coming;
  }
  for (; coming != 0; --coming) pop(std::chrono::steady_clock::time_point::max());
}

std::optional<std::size_t> arrivals::next(std::chrono::steady_clock::time_point deadline) {
  if (all_told()) return std::nullopt;
  if (process_ != process_generation()) {
    for (std::size_t i = 0; i < futures_.size(); ++i) {
      if (!each_[i].told) require_reachable(*futures_[i]);
    }
  }
  ready_list::node* const node = pop(deadline);
  if (node == nullptr) return std::nullopt;
  auto& one = *static_cast<arrival*>(node);
  one.told = true;
  ++told_;
  return static_cast<std::size_t>(&one - each_.get());
}

ready_list::node* arrivals::pop(std::chrono::steady_clock::time_point deadline) noexcept {
  if (ready_list::node* const node = ready_.try_pop()) return node;
  if (must_run_inline(*home_)) {
    // This worker may begin no other job while it waits, so it must do what it waits for.
    for (std::size_t i = 0; i < futures_.size(); ++i) {
      if (!each_[i].told) futures_[i]->run_here_if_at_the_limit();
    }
    if (ready_list::node* const node = ready_.try_pop()) return node;
  }
  // A pool without threads is done with when its futures are, and then it is another one's turn.
  if (drive_) choose_home();
  return ready_.pop_until(deadline, *home_, drive_);
}

void arrivals::choose_home() noexcept {
  for (std::size_t i = 0; i < futures_.size(); ++i) {
    if (each_[i].told || futures_[i]->done().is_set()) continue;  // told: it may be gone
    home_ = &futures_[i]->home();
    drive_ = futures_[i]->needs_driving();
    if (drive_) return;
  }
}

}  // namespace weft::detail
