#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace weft::process {

// Owns a file descriptor; -1 is none.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int value) noexcept : value_(value) {}
  descriptor(descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~descriptor() { close(); }

  // Keeps errno: it is read after what failed has been cleaned up.
  void close() noexcept {
    if (value_ < 0) return;
    const int error = errno;
    ::close(std::exchange(value_, -1));
    errno = error;
  }
  [[nodiscard]] int get() const noexcept { return value_; }
  explicit operator bool() const noexcept { return value_ >= 0; }

 private:
  int value_ = -1;
};

}  // namespace weft::process
