#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <weft/core/running.hpp>
#include <weft/core/trace_id.hpp>

namespace weft {

class observer;

namespace detail {
struct context_node;  // src/core/context.cpp
void retain(const context_node& node) noexcept;
void release(const context_node& node) noexcept;
}  // namespace detail

// On whose behalf work is done: a name for people, and the ids by which a request is followed
// through all programs that serve it (W3C Trace Context).
//
//   const weft::context_scope scope(weft::context::from_traceparent(header, "checkout"));
//   pool.spawn([] { log(weft::context::current().trace()); });   // knows the request
//
// It goes where the work goes: to what is spawned, submitted or continued by then(), and with a
// task through every co_await and from lane to lane. A fork is a call, and its stolen half knows
// nothing; what needs the context there takes it along. At the nesting limit, where get() calls the
// job itself, a submitted function has the context of whoever waits.
//
// An immutable value, one pointer in size. Threads: any. Errors: std::bad_alloc.
class context {
 public:
  context() noexcept = default;  // none
  context(const context& other) noexcept : node_(other.node_) {
    if (node_ != nullptr) detail::retain(*node_);
  }
  context(context&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  context& operator=(context other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~context() {
    if (node_ != nullptr) detail::release(*node_);
  }

  // Of what the calling thread runs; none when that has none.
  [[nodiscard]] static context current() noexcept;

  // A request that begins here.
  [[nodiscard]] static context new_trace(std::string_view name);
  // One that began elsewhere: the value of the header `traceparent`. A value that is not one begins
  // a new trace, as the standard has it.
  [[nodiscard]] static context from_traceparent(std::string_view header, std::string_view name);
  // A part of this one, or of none: then it is just a name.
  [[nodiscard]] context part(std::string_view name) const;

  explicit operator bool() const noexcept { return node_ != nullptr; }
  bool operator==(const context&) const = default;

  // Empty for none, as the ids are zero. Outside a trace, the only id is its own.
  [[nodiscard]] std::string_view name() const noexcept;
  [[nodiscard]] trace_id trace() const noexcept;
  [[nodiscard]] span_id span() const noexcept;
  [[nodiscard]] span_id parent_span() const noexcept;
  // In a trace that is to be recorded: whoever began it has decided.
  [[nodiscard]] bool is_sampled() const noexcept;
  // For a request to another program; empty outside a trace.
  [[nodiscard]] std::string traceparent() const;

  // For those who keep it in a word of their own.
  [[nodiscard]] const detail::context_node* node() const noexcept { return node_; }
  static context of(const detail::context_node* node) noexcept {
    context made;
    made.node_ = node;
    if (node != nullptr) detail::retain(*node);
    return made;
  }

 private:
  const detail::context_node* node_ = nullptr;
};

// Gives the calling thread a context for as long as it lives. Not around a co_await: what comes
// after it may run elsewhere. There, see in_context() of <weft/coro/in_context.hpp>.
class context_scope {
 public:
  explicit context_scope(context here) noexcept
      : here_(std::move(here)), before_(detail::running::on_this_thread().begin(here_.node())) {}
  ~context_scope() { detail::running::on_this_thread().go_back(before_); }
  context_scope(const context_scope&) = delete;
  context_scope& operator=(const context_scope&) = delete;

 private:
  const context here_;
  const detail::running::work before_;
};

namespace detail {

// A job that has a context, while it runs: as context_scope, and who observes the thread is told
// that a task begins and ends.
class work_scope {
 public:
  explicit work_scope(const context& of) noexcept : scope_(of) {
    running& here = running::on_this_thread();
    if (here.observer != nullptr && of) [[unlikely]]
      tell(here, of);
  }
  ~work_scope() {
    if (told_ != nullptr) [[unlikely]]
      tell_end();
  }
  work_scope(const work_scope&) = delete;
  work_scope& operator=(const work_scope&) = delete;

 private:
  [[gnu::cold]] void tell(const running& here, const context& of) noexcept;
  [[gnu::cold]] void tell_end() const noexcept;

  const context_scope scope_;
  observer* told_ = nullptr;  // of the end, too, also when it is taken away meanwhile
  unsigned worker_ = 0;
};

}  // namespace detail

}  // namespace weft
