#include "process/child.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

namespace weft::process {
namespace {

using namespace std::chrono_literals;

// How long a command that has ended waits for others to let go of its output.
constexpr auto drain_time = 100ms;
// After this even SIGKILL has not helped: the kernel is waiting for a device.
constexpr auto kill_time = 500ms;
constexpr auto first_look = 1ms;
constexpr auto longest_look = 10ms;
// A process that forks and ends while /proc is being read may be missed together with its child, so
// one look that finds nobody proves little; neither do two if somebody still holds the output.
constexpr int looks_to_be_sure = 2;
// More than any pipe holds; more can come only from somebody who still writes.
constexpr int most_reads_at_once = 16;

// Never overflows, however long somebody is ready to wait.
child::time_point after(child::time_point start, std::chrono::nanoseconds time) {
  constexpr std::chrono::nanoseconds longest = std::chrono::years(10);
  return start + std::min(time, longest);
}

std::chrono::nanoseconds to_nanoseconds(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

child::child(spawned process, std::string mark, const limits& allowed, time_point started)
    : pid_(process.pid),
      process_(std::move(process.process)),
      output_(std::move(process.output)),
      grace_(allowed.grace),
      buffer_(allowed.output_head, allowed.output_tail),
      tree_(pid_, std::move(mark)) {
  result_.started = started;
  if (allowed.timeout > 0ns) deadline_ = after(started, allowed.timeout);
}

// --- What happens ------------------------------------------------------------------------------

void child::on_output(moment& at) {
  read_some(at.scratch());
  if (output_at_end_ && phase_ == phase::draining) phase_ = phase::done;
}

void child::on_process(moment& at) {
  if (ended_) return;
  siginfo_t info{};
  // Only a look: its number must stay ours while its tree is signalled.
  const bool is_ours = process_ && ::waitid(P_PIDFD, static_cast<id_t>(process_.get()), &info,
                                            WEXITED | WNOHANG | WNOWAIT) == 0;
  if (is_ours && info.si_pid == 0) return;
  ended_ = true;
  result_.duration = std::max(at.now() - result_.started, time_point::duration::zero());
  if (is_ours && phase_ != phase::running) return look_for_others(at);
  wait_for_it();
  drain(at);
}

void child::stop(stop_mode mode, moment& at) {
  if (phase_ == phase::running) {
    begin_to_stop(ending::stopped, mode, at);
  } else if (phase_ == phase::terminating && mode == stop_mode::now) {
    kill(at);
  }
}

void child::on_deadline(moment& at) {
  switch (phase_) {
    case phase::running:
      return begin_to_stop(ending::timed_out, stop_mode::gently, at);
    case phase::terminating:
      return at.now() >= phase_end_ ? kill(at) : look_for_others(at);
    case phase::killing:
      if (at.now() < phase_end_) return look_for_others(at);
      result_.left_running = true;
      wait_for_it();
      return drain(at);
    case phase::draining:
      result_.left_running = true;
      phase_ = phase::done;
      return;
    case phase::done:
      return;
  }
}

// --- The end of a tree -------------------------------------------------------------------------

void child::begin_to_stop(ending how, stop_mode mode, moment& at) {
  on_process(at);
  if (phase_ != phase::running) return;  // it was faster
  result_.how = how;
  if (mode == stop_mode::now) return kill(at);
  tree_.look(at.processes());
  tree_.send(SIGTERM);
  tree_.send(SIGCONT);  // a stopped process sees SIGTERM only when it goes on
  phase_ = phase::terminating;
  phase_end_ = after(at.now(), grace_);
  deadline_ = phase_end_;
  until_next_look_ = first_look;
}

void child::kill(moment& at) {
  tree_.look(at.processes());
  tree_.send(SIGKILL);
  phase_ = phase::killing;
  phase_end_ = at.now() + kill_time;
  deadline_ = at.now() + first_look;
  until_next_look_ = first_look;
  looks_without_others_ = 0;
}

void child::look_for_others(moment& at) {
  tree_.look(at.processes());
  tree_.reap_orphans();
  if (phase_ == phase::killing) tree_.send(SIGKILL);
  looks_without_others_ = ended_ && !tree_.has_others() ? looks_without_others_ + 1 : 0;
  if (looks_without_others_ >= looks_to_be_sure && read_to_end(at.scratch())) {
    wait_for_it();
    return drain(at);
  }
  deadline_ = std::min(phase_end_, at.now() + until_next_look_);
  until_next_look_ = std::min<std::chrono::milliseconds>(2 * until_next_look_, longest_look);
}

void child::wait_for_it() {
  int status = 0;
  rusage used{};
  const pid_t waited = ::wait4(pid_, &status, WNOHANG, &used);
  if (waited == 0) return;  // nothing could kill it
  const bool by_itself = phase_ == phase::running;
  if (waited < 0) {
    if (by_itself) result_.how = ending::exited;
    result_.problem =
        "its exit status is lost: this program ignores SIGCHLD, or waits for children that are not "
        "its own; let it do neither";
    return;
  }
  if (WIFSIGNALED(status)) {
    result_.signal = WTERMSIG(status);
  } else {
    result_.exit_code = WEXITSTATUS(status);
  }
  if (by_itself) result_.how = WIFSIGNALED(status) ? ending::signalled : ending::exited;
  result_.user_time = to_nanoseconds(used.ru_utime);
  result_.system_time = to_nanoseconds(used.ru_stime);
  result_.peak_rss = static_cast<std::uint64_t>(used.ru_maxrss) << 10U;
}

// --- Output ------------------------------------------------------------------------------------

void child::drain(moment& at) {
  phase_ = phase::draining;
  deadline_ = at.now() + drain_time;
  if (read_to_end(at.scratch())) phase_ = phase::done;
}

// Whether nobody can write any more.
bool child::read_to_end(std::span<char> scratch) {
  for (int reads = 0; reads < most_reads_at_once && read_some(scratch); ++reads) {
  }
  return output_at_end_;
}

// Whether there may be more.
bool child::read_some(std::span<char> scratch) {
  if (output_at_end_) return false;
  const ssize_t count = ::read(output_.get(), scratch.data(), scratch.size());
  if (count > 0) {
    buffer_.append({scratch.data(), static_cast<std::size_t>(count)});
    return true;
  }
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  output_at_end_ = true;
  return false;
}

outcome child::take_outcome() && {
  result_.output = std::move(buffer_).take();
  return std::move(result_);
}

}  // namespace weft::process
