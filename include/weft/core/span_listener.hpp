#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include <weft/core/trace_id.hpp>

namespace weft {

// A context of a trace, when nothing runs on its behalf any more.
struct ended_span {
  std::string_view name;  // for the time of the call
  trace_id trace;
  span_id id;
  span_id parent;  // zero: none
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
};

// Is told of contexts that have ended: how spans come to those who collect them. Contexts that are
// not to be sampled, as their trace says, are left out.
//
// Threads: called by the thread that lets the last copy go, one at a time. Must not throw, nor make
// or drop contexts.
class span_listener {
 public:
  virtual ~span_listener() = default;
  virtual void span_ended(const ended_span& span) noexcept = 0;
};

// All that are there are told. Threads: any. Errors: std::bad_alloc.
void add_span_listener(std::shared_ptr<span_listener> l);
// Afterwards it is not told.
void remove_span_listener(const span_listener& l) noexcept;

}  // namespace weft
