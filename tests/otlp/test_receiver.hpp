#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weft::test {

struct received_request {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

struct receiver_answer {
  int status = 200;
  std::string body = "{}";
  std::map<std::string, std::string> headers = {};
  bool never_comes = false;    // the connection stays open until the receiver ends
  bool closes_before = false;  // the connection ends without an answer
  bool closes_after = false;   // without having said so
  std::string raw = {};        // instead of all of it, if not empty
};

// A collector on a free port of this machine that answers as it was told. One connection at a time.
class test_receiver {
 public:
  // Called by the thread of the receiver; `index` counts requests from 0.
  using script = std::function<receiver_answer(const received_request& what, std::size_t index)>;

  // With `begins_later`, connections are refused until start().
  enum class mode : std::uint8_t { listens, begins_later };
  explicit test_receiver(
      script answers = [](const auto&, std::size_t) { return receiver_answer(); },
      mode m = mode::listens);
  ~test_receiver();
  test_receiver(const test_receiver&) = delete;
  test_receiver& operator=(const test_receiver&) = delete;

  void start();
  [[nodiscard]] std::string endpoint() const;

  // Waits until there are so many.
  [[nodiscard]] std::vector<received_request> wait_for_requests(std::size_t count);
  [[nodiscard]] std::vector<received_request> requests();
  [[nodiscard]] std::size_t connections();

 private:
  struct sockets;

  void serve();
  void serve_connection();

  const script answers_;
  const std::unique_ptr<sockets> sockets_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<received_request> requests_;
  std::size_t connections_ = 0;
  int open_connection_ = -1;
  bool is_ending_ = false;

  std::thread thread_;
};

}  // namespace weft::test
