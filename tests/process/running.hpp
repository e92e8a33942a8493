#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weft/process/supervisor.hpp>

#include "process/descriptor.hpp"
#include "process/pidfd.hpp"
#include "process/process_tree.hpp"

namespace weft::process::test {

inline command program(std::vector<std::string> argv) {
  return {.argv = std::move(argv), .env = {}, .cwd = {}};
}

inline command shell(std::string script) { return program({"/bin/sh", "-c", std::move(script)}); }

// A command that was started, and its outcome to come.
struct pending {
  child_id id = 0;
  std::future<outcome> result;
};

inline pending start(supervisor& with, const command& what, const limits& allowed = {}) {
  auto promise = std::make_shared<std::promise<outcome>>();
  std::future<outcome> result = promise->get_future();
  const child_id id =
      with.start(what, allowed, [promise](outcome ended) { promise->set_value(std::move(ended)); });
  return {id, std::move(result)};
}

inline outcome run(supervisor& with, const command& what, const limits& allowed = {}) {
  return start(with, what, allowed).result.get();
}

class temporary_directory {
 public:
  temporary_directory() {
    std::string pattern = std::filesystem::temp_directory_path() / "weft-process-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::string& path, const std::string& text, mode_t mode = 0644) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), mode);
}

// A named pipe. What is written to it tells that a command has come so far.
class signpost {
 public:
  explicit signpost(std::string path) : path_(std::move(path)) {
    if (::mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  // One line per writer; waits for it.
  [[nodiscard]] std::string read_line() const {
    std::ifstream from(path_);
    std::string line;
    std::getline(from, line);
    return line;
  }
  [[nodiscard]] pid_t read_pid() const { return std::stoi(read_line()); }

 private:
  std::string path_;
};

// Somebody whose end can be told without a doubt about who has the number now.
class watched_process {
 public:
  explicit watched_process(pid_t pid) : pid_(pid), process_(open_pidfd(pid)) {}
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool has_ended() const {
    pollfd asked{process_.get(), POLLIN, 0};
    return !process_ || ::poll(&asked, 1, 0) == 1;
  }
  void wait() const {
    pollfd asked{process_.get(), POLLIN, 0};
    ::poll(&asked, 1, -1);
  }

 private:
  pid_t pid_;
  descriptor process_;
};

inline std::size_t count_own_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

// Children of this process that have ended and that nobody has waited for.
inline std::size_t count_zombies() {
  std::size_t count = 0;
  const process_table table = process_table::read();
  for (const process_info& who : table.all()) {
    if (who.parent == ::getpid() && who.ended) ++count;
  }
  return count;
}

}  // namespace weft::process::test
