#include <weft/process/marked.hpp>

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "base/text.hpp"
#include "process/descriptor.hpp"
#include "process/pidfd.hpp"

namespace weft::process {
namespace {

using clock = std::chrono::steady_clock;

bool has_variable(const std::string& environment, const std::string& wanted) {
  for (std::size_t at = environment.find(wanted); at != std::string::npos;
       at = environment.find(wanted, at + 1)) {
    const std::size_t end = at + wanted.size();
    const bool begins = at == 0 || environment[at - 1] == '\0';
    if (begins && (end == environment.size() || environment[end] == '\0')) return true;
  }
  return false;
}

bool has_all(pid_t pid, const std::vector<std::string>& wanted) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return std::ranges::all_of(wanted,
                             [&](const std::string& each) { return has_variable(text, each); });
}

// Processes that have them, held by descriptors: their numbers cannot be given to others unnoticed.
std::vector<descriptor> find_marked(const std::vector<std::string>& wanted) {
  std::vector<descriptor> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (proc == nullptr) return found;
  while (const dirent* const entry = ::readdir(proc.get())) {  // NOLINT(concurrency-mt-unsafe)
    const auto pid = base::parse_whole<pid_t>(entry->d_name);
    if (!pid || *pid == ::getpid() || !has_all(*pid, wanted)) continue;
    descriptor held = open_pidfd(*pid);
    // Only now it is certain whom the descriptor holds.
    if (held && has_all(*pid, wanted)) found.push_back(std::move(held));
  }
  return found;
}

void wait_until_gone(const descriptor& who, clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now());
  pollfd waited{.fd = who.get(), .events = POLLIN, .revents = 0};
  ::poll(&waited, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
}

}  // namespace

std::size_t kill_marked(const std::vector<std::string>& variables) {
  const auto until = clock::now() + std::chrono::seconds(1);
  std::size_t killed = 0;
  // Again and again, since one may have started another between the look and the signal.
  while (clock::now() < until) {
    const std::vector<descriptor> found = find_marked(variables);
    if (found.empty()) break;
    killed += found.size();
    for (const descriptor& each : found) send_signal(each, SIGKILL);
    for (const descriptor& each : found) wait_until_gone(each, until);
  }
  return killed;
}

}  // namespace weft::process
