#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weft::process {

// The environment of this process at one moment. It is copied, because setenv() in another thread
// must not pull it away from under a command that is being started.
class environment {
 public:
  // Every command finds its own mark in this variable, after those of the commands it runs in:
  // outer:inner. It is how a descendant is known that left the group, the session and its parent.
  static constexpr const char* mark_name = "WEFT_COMMAND_ID";

  environment();

  // Added variables replace inherited ones of the same name; of two of one name the last counts.
  // The pointers of the block are those of an array that ends with a null, as execve() wants it.
  struct block {
    std::vector<std::string> own;
    std::vector<char*> pointers;
    const char* path = nullptr;  // the value of PATH in it
  };
  [[nodiscard]] block with(const std::vector<std::pair<std::string, std::string>>& added,
                           const std::string& mark) const;

 private:
  std::vector<std::string> inherited_;  // without the mark
  std::string outer_marks_;             // empty, or ending with a colon
};

// Whether a value of the variable has this mark among its own.
[[nodiscard]] bool has_mark(const std::string& marks, const std::string& mark);

}  // namespace weft::process
