#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "otlp/patience.hpp"

namespace weft::otlp {

// Looks the addresses of a host up, for as long as somebody wants to wait.
//
// The lookup of the C library cannot be called off, and a name server that does not answer keeps it
// for half a minute. So it runs on a thread that nobody waits for, one at a time: a caller whose
// time is up finds it again at the next call.
//
// Threads: find(), one at a time; wake(), any.
class name_lookup {
 public:
  struct result {
    std::vector<std::string> addresses;  // as numbers; empty: there are none
    std::string problem;                 // why, in the words of the C library
  };
  using function = std::function<result(const std::string& host)>;

  // `look` must not use anything that may end before the program does.
  explicit name_lookup(function look = &name_lookup::ask_the_system);
  ~name_lookup();
  name_lookup(const name_lookup&) = delete;
  name_lookup& operator=(const name_lookup&) = delete;

  // A lookup that did not end in time is a result without addresses.
  [[nodiscard]] result find(const std::string& host, const patience_of& until);
  void wake() noexcept;

  [[nodiscard]] static result ask_the_system(const std::string& host);

 private:
  struct state;
  void begin(const std::string& host);

  const function look_;
  const std::shared_ptr<state> state_;
};

}  // namespace weft::otlp
