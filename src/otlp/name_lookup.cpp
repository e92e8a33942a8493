#include "otlp/name_lookup.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace weft::otlp {

// Shared with the thread, which may go on after the others.
struct name_lookup::state {
  std::mutex mutex;
  std::condition_variable changed;
  // All guarded by mutex.
  bool is_under_way = false;
  bool is_woken = false;
  std::optional<result> found;
};

name_lookup::name_lookup(function look)
    : look_(std::move(look)), state_(std::make_shared<state>()) {}

name_lookup::~name_lookup() = default;

name_lookup::result name_lookup::find(const std::string& host, const patience_of& until) {
  std::unique_lock lock(state_->mutex);
  // One that came too late for the last caller still serves this one.
  const bool is_known = state_->found && !state_->found->addresses.empty();
  if (!state_->is_under_way && !is_known) {
    state_->found.reset();
    try {
      begin(host);
    } catch (const std::system_error& error) {
      return {.addresses = {}, .problem = std::string("no thread to ask for it: ") + error.what()};
    }
  }
  for (;;) {
    if (state_->found) return *std::exchange(state_->found, std::nullopt);
    lock.unlock();
    const auto [end, next] = until();
    lock.lock();
    if (state_->found) continue;
    if (patience::clock::now() >= end) {
      return {.addresses = {}, .problem = "no name server has answered"};
    }
    state_->changed.wait_until(lock, std::min(end, next),
                               [&] { return state_->found || state_->is_woken; });
    state_->is_woken = false;
  }
}

// Under the lock.
void name_lookup::begin(const std::string& host) {
  std::thread([host, look = look_, s = state_] {
    result made;
    try {
      made = look(host);
    } catch (const std::exception&) {
      made = {.addresses = {}, .problem = {}};  // no memory: asked again the next time
    }
    const std::lock_guard lock(s->mutex);
    s->found = std::move(made);
    s->is_under_way = false;
    s->changed.notify_all();
  }).detach();
  state_->is_under_way = true;
}

void name_lookup::wake() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->is_woken = true;
  state_->changed.notify_all();
}

name_lookup::result name_lookup::ask_the_system(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &wanted, &list);
  if (error != 0) return {.addresses = {}, .problem = gai_strerror(error)};
  result made;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      made.addresses.emplace_back(text.data());
    }
  }
  freeaddrinfo(list);
  return made;
}

}  // namespace weft::otlp
