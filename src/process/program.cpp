#include "process/program.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "base/text.hpp"

namespace weft::process {
namespace {

constexpr const char* default_path = "/bin:/usr/bin";

// Names come from files that others wrote: what would move a terminal's cursor is escaped.
std::string quoted(std::string_view name) {
  constexpr std::size_t most = 200;
  std::string shown = "\"";
  for (const char character : name.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      shown += '\\';
      shown += character;
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 5> escaped{};
      static_cast<void>(std::snprintf(escaped.data(), escaped.size(), "\\x%02x", byte));
      shown += escaped.data();
    } else {
      shown += character;
    }
  }
  return shown + (name.size() > most ? "..." : "") + '"';
}

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

bool has_slash(std::string_view text) { return text.find('/') != std::string_view::npos; }

// A name as the command sees it, as a name that this process can use.
std::string seen_from_here(const std::string& name, const std::string& cwd) {
  return cwd.empty() || name.starts_with('/') ? name : cwd + "/" + name;
}

// 0, or why the search goes on. A directory that may not be entered has nothing for us.
int refusal_of(const std::string& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) return ENOENT;
  if (!S_ISREG(info.st_mode)) return EACCES;
  return ::faccessat(AT_FDCWD, file.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

// Empty if a command could run there.
std::string problem_of_directory(const std::string& cwd) {
  struct stat info{};
  const std::string name = "its directory " + quoted(cwd);
  if (::stat(cwd.c_str(), &info) != 0) {
    if (errno == ENOENT) return name + " does not exist; make it, or correct cwd";
    return name + " cannot be used (" + std::generic_category().message(errno) + "); correct cwd";
  }
  if (!S_ISDIR(info.st_mode)) return name + " is not a directory; correct cwd";
  if (::faccessat(AT_FDCWD, cwd.c_str(), X_OK, AT_EACCESS) == 0) return {};
  return name + " may not be entered; correct its permissions, or cwd";
}

std::string problem_of_missing_file(const command& what) {
  const std::string& program = what.argv.front();
  const std::string file = seen_from_here(program, what.cwd);
  struct stat info{};
  if (::stat(file.c_str(), &info) == 0) {
    return "the file is there, but the interpreter or loader that it names is not; look at its "
           "first line";
  }
  if (program.starts_with('/')) return "no such file; correct the path";
  const std::string directory = what.cwd.empty() ? "this process's" : quoted(what.cwd);
  return "no such file; look at cwd, which is " + directory;
}

std::string problem_of_permission(const command& what) {
  struct stat info{};
  const std::string file = seen_from_here(what.argv.front(), what.cwd);
  if (::stat(file.c_str(), &info) != 0) {
    return "a directory on the way to it may not be entered; correct its permissions";
  }
  if (S_ISDIR(info.st_mode)) return "it is a directory; name a program";
  if (!S_ISREG(info.st_mode)) return "it is not a regular file; name a program";
  if (::faccessat(AT_FDCWD, file.c_str(), X_OK, AT_EACCESS) != 0) {
    return "it is not executable; chmod +x it, or run it through its interpreter";
  }
  return "permission denied; look at its interpreter, and at how its file system is mounted";
}

std::string problem_of_program(const command& what, int error) {
  const bool searched = !has_slash(what.argv.front());
  switch (error) {
    case ENOENT:
      if (searched) return "not found in PATH; install it, or give a path with a slash";
      return problem_of_missing_file(what);
    case EACCES:
      if (searched) return "what PATH has of this name is not executable; chmod +x it";
      return problem_of_permission(what);
    case ENOTDIR:
      return "a part of its path is not a directory; correct the path";
    case ENOEXEC:
      return "this system cannot run such a file; a script needs a first line such as #!/bin/sh";
    case ETXTBSY:
      return "somebody is writing to the file; wait until it is complete";
    default:
      return std::generic_category().message(error);
  }
}

}  // namespace

std::string find_malformed(const command& what) {
  if (what.argv.empty() || what.argv.front().empty()) {
    return "cannot start a command without a program; give at least one argument, and no empty "
           "first one";
  }
  const std::string intro = "cannot start " + quoted(what.argv.front()) + ": ";
  for (std::size_t index = 0; index < what.argv.size(); ++index) {
    if (has_nul(what.argv[index])) {
      return intro + "argument " + std::to_string(index) +
             " has a NUL byte in it, which no program can receive; remove it";
    }
  }
  if (has_nul(what.cwd)) return intro + "cwd has a NUL byte in it; remove it";
  for (const auto& [name, value] : what.env) {
    if (name.empty() || has_nul(name) || name.find('=') != std::string::npos) {
      return intro + "the environment variable " + quoted(name) +
             " needs a name, without = and NUL bytes; correct env";
    }
    if (has_nul(value)) {
      return intro + "the environment variable " + quoted(name) +
             " has a NUL byte in its value; remove it";
    }
  }
  return {};
}

located_program locate_program(const command& what, const char* path) {
  const std::string& name = what.argv.front();
  if (has_slash(name)) return {.file = name, .error = 0};
  int error = ENOENT;
  for (const std::string_view directory : base::split(path ? path : default_path, ':')) {
    std::string file = (directory.empty() ? "." : std::string(directory)) + "/" + name;
    const int refusal = refusal_of(seen_from_here(file, what.cwd));
    if (refusal == 0) return {.file = std::move(file), .error = 0};
    if (refusal == EACCES) error = EACCES;
  }
  return {.file = {}, .error = error};
}

std::string explain_start_error(const command& what, int error) {
  const std::string intro = "cannot start " + quoted(what.argv.front()) + ": ";
  switch (error) {
    case E2BIG:
      return intro + "its arguments and environment are too long; pass them in a file";
    case EMFILE:
      return intro + "this process has too many open files; raise ulimit -n, or run fewer at once";
    case ENFILE:
      return intro + "the machine has too many open files; run fewer at once";
    case EAGAIN:
      return intro + "too many processes; raise ulimit -u, or run fewer at once";
    case ENOMEM:
      return intro + "out of memory; run fewer at once";
    default:
      break;
  }
  if (!what.cwd.empty()) {
    const std::string problem = problem_of_directory(what.cwd);
    if (!problem.empty()) return intro + problem;
  }
  return intro + problem_of_program(what, error);
}

}  // namespace weft::process
