#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "options.hpp"

namespace bench {

// A new directory that goes away, with what is in it, at the end of the scope.
class temporary_directory {
 public:
  temporary_directory() {
    std::string pattern = std::filesystem::temp_directory_path() / "weft-bench-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) fail("cannot make a temporary directory");
    path_ = pattern;
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace bench
