#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>

namespace weft::batch::detail {

// Closes what it holds.
class owned_fd {
 public:
  owned_fd() = default;
  explicit owned_fd(int fd) noexcept : fd_(fd) {}
  owned_fd(owned_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~owned_fd();

  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Which file was read. It is held open, since the number of a file that is gone may be given to the
// next one.
class file_version {
 public:
  file_version(owned_fd file, const struct stat& status)
      : file_(std::move(file)), status_(status) {}
  [[nodiscard]] bool is(const struct stat& other) const noexcept;

 private:
  owned_fd file_;
  struct stat status_;
};

// A small file that is read and replaced as a whole, by several processes, and that survives a
// crash at any moment.
//
// Its directory is opened once and everything happens relative to it, so nobody can exchange it
// half-way. Refused is what another user could have put there: links, files of another owner, a
// directory in which everybody may rename. What is not a regular file is refused without waiting
// for it.
//
// Errors: missing_input, no_permission, cannot_create, io_error. The message names the path and
// says what to do.
class durable_file {
 public:
  // To have one is to be the only writer. It goes with the process that holds it, however that
  // ends.
  class lock {
   private:
    friend class durable_file;
    explicit lock(owned_fd file) noexcept : file_(std::move(file)) {}
    owned_fd file_;
  };

  enum class missing_directory : std::uint8_t { is_fine, is_created };

  // Without a directory, if that is fine, there is no file either.
  [[nodiscard]] static result<durable_file> open(const std::string& path,
                                                 missing_directory missing);

  struct contents {
    std::string text;
    std::shared_ptr<const file_version> version;
  };
  // Nothing if there is no file. At most `most` bytes and one: who gets more may refuse it.
  [[nodiscard]] result<std::optional<contents>> read(std::size_t most) const;
  // Whether that is what reading would give. Files are replaced and not changed, so it is if it is
  // the same one; an editor that changes it in place gives itself away by time or size.
  [[nodiscard]] bool is_current(const file_version& version) const;

  // Blocks: while another process has it. The lock is that of `<path>.lock`, which stays.
  [[nodiscard]] result<lock> take_lock() const;

  // All or nothing: written to a file of a random name beside it, which replaces the old one when
  // it is on the disk. Keeps the permissions. What a killed writer has left behind is removed.
  [[nodiscard]] result<void> replace(const lock& held, std::string_view text) const;

  // Renames it to the first free `<path>.corrupt-<n>`, which is returned.
  [[nodiscard]] result<std::string> move_aside(const lock& held) const;

 private:
  durable_file(std::string path, std::string name, owned_fd directory)
      : path_(std::move(path)), name_(std::move(name)), directory_(std::move(directory)) {}

  [[nodiscard]] result<void> check_directory() const;
  [[nodiscard]] result<owned_fd> open_existing(const std::string& name, int flags) const;
  [[nodiscard]] result<void> write_temporary(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::optional<mode_t> mode_of_old() const;
  void remove_leftovers() const;
  [[nodiscard]] std::string path_of(const std::string& name) const;

  std::string path_;
  std::string name_;
  owned_fd directory_;
};

// The text of a file that somebody names to be read once: any owner, links are fine, but it has to
// be a regular file. At most `most` bytes and one.
[[nodiscard]] result<std::string> read_regular_file(const std::string& path, std::size_t most);

}  // namespace weft::batch::detail
