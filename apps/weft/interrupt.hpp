#pragma once

#include <mutex>
#include <stop_token>
#include <thread>

namespace weft::cli {

// Turns signals into requests, in a thread of its own. The first SIGINT asks to finish what runs,
// the second, and SIGTERM and SIGHUP at once, to stop it. One that was ignored stays ignored. Must
// exist before other threads do: they inherit that these signals are not for them.
class interrupts {
 public:
  // `speaks`: whether the first SIGINT is answered on standard error.
  explicit interrupts(bool speaks);
  ~interrupts();
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;

  [[nodiscard]] std::stop_token finish() const { return finish_.get_token(); }
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }
  // The last signal that came; 0: none.
  [[nodiscard]] int signal();

 private:
  void listen();

  const bool speaks_;
  int descriptor_ = -1;  // signalfd
  int quit_ = -1;        // eventfd, written by the destructor
  std::stop_source finish_;
  std::stop_source stop_;
  std::mutex mutex_;
  int signal_ = 0;
  std::thread thread_;
};

}  // namespace weft::cli
