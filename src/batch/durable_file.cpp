#include "batch/durable_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <system_error>

#include <weft/base/utf8.hpp>

namespace weft::batch::detail {
namespace {

using base::printable;

constexpr unsigned most_set_aside = 100;

std::string reason(int error) { return std::generic_category().message(error); }

error_kind kind_of(int error, error_kind otherwise) {
  return error == EACCES || error == EPERM || error == EROFS ? error_kind::no_permission
                                                             : otherwise;
}

tl::unexpected<error> fail_with(error_kind otherwise, int error, const std::string& what,
                                const std::string& advice) {
  return fail(kind_of(error, otherwise), what + ": " + reason(error) + "; " + advice);
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_in_directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

result<std::string> read_all(int fd, std::size_t most, const std::string& path) {
  std::string text;
  struct stat status{};
  if (fstat(fd, &status) == 0 && status.st_size > 0) {
    text.reserve(std::min(static_cast<std::size_t>(status.st_size), most) + 1);
  }
  std::size_t size = 0;
  while (size <= most) {
    const std::size_t wanted =
        std::min(std::max(text.capacity() - size, std::size_t{4096}), most + 1 - size);
    text.resize(size + wanted);
    const ssize_t count = ::read(fd, text.data() + size, wanted);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return fail_with(error_kind::io_error, errno, "cannot read " + printable(path),
                       "check the disk, or name another file");
    }
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  return text;
}

result<void> require_regular(int fd, const std::string& path) {
  struct stat status{};
  if (fstat(fd, &status) != 0) {
    return fail_with(error_kind::io_error, errno, "cannot look at " + printable(path),
                     "name another file");
  }
  if (S_ISREG(status.st_mode)) return {};
  const char* const what = S_ISDIR(status.st_mode)    ? "a directory"
                           : S_ISFIFO(status.st_mode) ? "a named pipe"
                                                      : "not a regular file";
  return fail(error_kind::missing_input,
              "cannot read " + printable(path) + ": it is " + what + "; name a regular file");
}

result<void> require_own(int fd, const std::string& path) {
  struct stat status{};
  if (fstat(fd, &status) == 0 && status.st_uid == geteuid()) return {};
  return fail(error_kind::no_permission, printable(path) + " belongs to user " +
                                             std::to_string(status.st_uid) + ", not to " +
                                             std::to_string(geteuid()) +
                                             "; remove it, run as that user, or name another file");
}

tl::unexpected<error> refuse_open(int error, const std::string& path) {
  if (error == ELOOP) {
    return fail(error_kind::no_permission,
                printable(path) +
                    " is a symbolic link, which is not followed here; replace it by a "
                    "file, or name the file it points to");
  }
  return fail_with(error_kind::missing_input, error, "cannot open " + printable(path),
                   error == ENOENT ? "name a file that is there"
                                   : "check the permissions, or name another file");
}

// Its entry has to be on the disk as well, or what is in it may be lost with it. Where that cannot
// be, the directory is there all the same.
bool make_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0777) != 0) return errno == EEXIST;
  const owned_fd above(::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (above) static_cast<void>(fsync(above.get()));
  return true;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string temporary_prefix(const std::string& name) { return "." + name + ".tmp-"; }

std::string random_name(const std::string& name) {
  std::random_device random;
  const std::uint64_t number = std::uint64_t{random()} << 32U | random();
  std::array<char, 17> digits{};
  static_cast<void>(std::snprintf(digits.data(), digits.size(), "%016llx",
                                  static_cast<unsigned long long>(number)));
  return temporary_prefix(name) + digits.data();
}

}  // namespace

owned_fd::~owned_fd() {
  if (fd_ >= 0) close(fd_);
}

bool file_version::is(const struct stat& other) const noexcept {
  return other.st_dev == status_.st_dev && other.st_ino == status_.st_ino &&
         other.st_size == status_.st_size && other.st_mtim.tv_sec == status_.st_mtim.tv_sec &&
         other.st_mtim.tv_nsec == status_.st_mtim.tv_nsec;
}

// --- Opening -----------------------------------------------------------------------------------

result<durable_file> durable_file::open(const std::string& path, missing_directory missing) {
  std::string name = name_in_directory(path);
  if (name.empty() || path.find('\0') != std::string::npos) {
    return fail(error_kind::missing_input, "\"" + printable(path) +
                                               "\" does not name a file; give a path such as "
                                               ".weft/profiles.json");
  }
  const std::string parent = directory_of(path);
  if (missing == missing_directory::is_created && !make_directory(parent)) {
    return fail_with(error_kind::cannot_create, errno,
                     "cannot create the directory " + printable(parent),
                     "create it, or name a file elsewhere");
  }
  owned_fd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory && (errno != ENOENT || missing == missing_directory::is_created)) {
    return fail_with(error_kind::missing_input, errno,
                     "cannot open the directory " + printable(parent),
                     "check its permissions, or name a file elsewhere");
  }
  durable_file opened(path, std::move(name), std::move(directory));
  if (auto fine = opened.check_directory(); !fine) return tl::unexpected(std::move(fine.error()));
  return opened;
}

result<void> durable_file::check_directory() const {
  struct stat status{};
  if (!directory_ || fstat(directory_.get(), &status) != 0) return {};
  if ((status.st_mode & S_IWOTH) == 0 || (status.st_mode & S_ISVTX) != 0) return {};
  const std::string parent = printable(directory_of(path_));
  return fail(error_kind::no_permission,
              "everybody may rename files in the directory " + parent + ", so " + printable(path_) +
                  " cannot be trusted; chmod o-w " + parent + ", or name a file elsewhere");
}

// Does not wait, be it a pipe without a writer.
result<owned_fd> durable_file::open_existing(const std::string& name, int flags) const {
  const std::string path = path_of(name);
  owned_fd file(openat(directory_.get(), name.c_str(),
                       flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0666));
  if (!file) {
    if (errno == ENOENT && (flags & O_CREAT) == 0) return owned_fd();
    return refuse_open(errno, path);
  }
  if (auto fine = require_regular(file.get(), path); !fine) {
    return tl::unexpected(std::move(fine.error()));
  }
  if (auto fine = require_own(file.get(), path); !fine) {
    return tl::unexpected(std::move(fine.error()));
  }
  return file;
}

result<std::optional<durable_file::contents>> durable_file::read(std::size_t most) const {
  if (!directory_) return std::nullopt;
  auto file = open_existing(name_, O_RDONLY);
  if (!file) return tl::unexpected(std::move(file.error()));
  if (!*file) return std::nullopt;
  struct stat status{};
  static_cast<void>(fstat(file->get(), &status));
  auto text = read_all(file->get(), most, path_);
  if (!text) return tl::unexpected(std::move(text.error()));
  return contents{std::move(*text), std::make_shared<const file_version>(std::move(*file), status)};
}

bool durable_file::is_current(const file_version& version) const {
  struct stat status{};
  return fstatat(directory_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         version.is(status);
}

result<durable_file::lock> durable_file::take_lock() const {
  const std::string name = name_ + ".lock";
  auto file = open_existing(name, O_RDONLY | O_CREAT);
  if (!file) return tl::unexpected(std::move(file.error()));
  while (flock(file->get(), LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    return fail_with(error_kind::io_error, errno, "cannot lock " + printable(path_of(name)),
                     "name a file on a file system with locks");
  }
  return lock(std::move(*file));
}

// --- Writing -----------------------------------------------------------------------------------

result<void> durable_file::replace(const lock& /*held*/, std::string_view text) const {
  remove_leftovers();
  // What stands there may be a link or a directory by now; a rename would silently replace a link.
  if (auto old = open_existing(name_, O_RDONLY); !old) {
    return tl::unexpected(std::move(old.error()));
  }
  const std::string temporary = random_name(name_);
  auto done = write_temporary(temporary, text);
  if (done && renameat(directory_.get(), temporary.c_str(), directory_.get(), name_.c_str()) != 0) {
    done = fail_with(error_kind::io_error, errno, "cannot replace " + printable(path_),
                     "check the permissions of its directory");
  }
  if (!done) {
    unlinkat(directory_.get(), temporary.c_str(), 0);
    return done;
  }
  // Not every file system can do this, and the file is there all the same.
  if (fsync(directory_.get()) != 0 && errno != EINVAL) {
    return fail_with(error_kind::io_error, errno,
                     "cannot bring the directory of " + printable(path_) + " to the disk",
                     "check the disk");
  }
  return {};
}

result<void> durable_file::write_temporary(const std::string& name, std::string_view text) const {
  const std::optional<mode_t> mode = mode_of_old();
  const owned_fd file(openat(directory_.get(), name.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                             mode.value_or(0666)));
  if (!file) {
    return fail_with(error_kind::cannot_create, errno,
                     "cannot create a file beside " + printable(path_),
                     "make room or check the permissions of its directory");
  }
  // The umask may have taken away what the old file had.
  const bool written = (!mode || fchmod(file.get(), *mode) == 0) && write_all(file.get(), text) &&
                       fsync(file.get()) == 0;
  if (written) return {};
  return fail_with(error_kind::io_error, errno, "cannot write " + printable(path_),
                   "it is as it was; make room, or name a file elsewhere");
}

std::optional<mode_t> durable_file::mode_of_old() const {
  struct stat status{};
  if (fstatat(directory_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return std::nullopt;
  }
  return status.st_mode & 0777U;
}

// Whoever writes holds the lock, so while we do, these are of writers that were killed.
void durable_file::remove_leftovers() const {
  const int copy = openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(copy), &closedir);
  if (!entries) {
    close(copy);
    return;
  }
  const std::string prefix = temporary_prefix(name_);
  while (const dirent* entry = readdir(entries.get())) {
    if (std::string_view(entry->d_name).starts_with(prefix)) {
      unlinkat(directory_.get(), entry->d_name, 0);
    }
  }
}

result<std::string> durable_file::move_aside(const lock& /*held*/) const {
  for (unsigned number = 1; number <= most_set_aside; ++number) {
    const std::string name = name_ + ".corrupt-" + std::to_string(number);
    if (renameat2(directory_.get(), name_.c_str(), directory_.get(), name.c_str(),
                  RENAME_NOREPLACE) == 0) {
      return path_of(name);
    }
    if (errno != EEXIST) {
      return fail_with(error_kind::io_error, errno, "cannot rename " + printable(path_),
                       "remove it");
    }
  }
  return fail(error_kind::io_error, "cannot rename " + printable(path_) + ": there are " +
                                        std::to_string(most_set_aside) +
                                        " of its kind; remove them");
}

std::string durable_file::path_of(const std::string& name) const {
  return path_.substr(0, path_.size() - name_.size()) + name;
}

result<std::string> read_regular_file(const std::string& path, std::size_t most) {
  const owned_fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!file) return refuse_open(errno, path);
  if (auto fine = require_regular(file.get(), path); !fine) {
    return tl::unexpected(std::move(fine.error()));
  }
  return read_all(file.get(), most, path);
}

}  // namespace weft::batch::detail
