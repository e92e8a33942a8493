#pragma once

#include <pthread.h>

#include <csignal>
#include <string>
#include <thread>
#include <utility>

namespace weft::io {

// A thread with a name that takes no signals: those are for the threads of the program.
template <class Body>
std::thread start_quiet_thread(const std::string& name, Body body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread started;
  try {
    started = std::thread([body = std::move(body), short_name = name.substr(0, 15)]() mutable {
      ::pthread_setname_np(::pthread_self(), short_name.c_str());
      body();
    });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace weft::io
