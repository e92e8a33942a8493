#include "interrupt.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <system_error>

namespace weft::cli {
namespace {

// As nohup does, and a shell for what it runs in the background: who does so means it.
bool is_ignored(int number) {
  struct sigaction now{};
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

interrupts::interrupts(bool speaks) : speaks_(speaks) {
  sigset_t caught;
  sigemptyset(&caught);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(number)) sigaddset(&caught, number);
  }
  pthread_sigmask(SIG_BLOCK, &caught, nullptr);
  descriptor_ = signalfd(-1, &caught, SFD_CLOEXEC);
  quit_ = eventfd(0, EFD_CLOEXEC);
  if (descriptor_ < 0 || quit_ < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot wait for signals");
  }
  thread_ = std::thread([this] { listen(); });
}

interrupts::~interrupts() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(quit_, &one, sizeof one));
  thread_.join();
  ::close(descriptor_);
  ::close(quit_);
}

int interrupts::signal() {
  const std::lock_guard lock(mutex_);
  return signal_;
}

void interrupts::listen() {
  for (;;) {
    std::array<pollfd, 2> waited = {{{.fd = descriptor_, .events = POLLIN, .revents = 0},
                                     {.fd = quit_, .events = POLLIN, .revents = 0}}};
    if (::poll(waited.data(), waited.size(), -1) < 0) continue;
    if (waited[1].revents != 0) return;
    signalfd_siginfo came{};
    if (::read(descriptor_, &came, sizeof came) != sizeof came) continue;
    const auto number = static_cast<int>(came.ssi_signo);
    {
      const std::lock_guard lock(mutex_);
      signal_ = number;
    }
    const bool at_once = number != SIGINT || finish_.stop_requested();
    if (at_once) stop_.request_stop();
    finish_.request_stop();
    if (!at_once && speaks_) {
      std::cerr << "weft: finishing what runs; interrupt again to kill it\n";
    }
  }
}

}  // namespace weft::cli
