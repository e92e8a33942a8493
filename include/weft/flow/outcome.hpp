#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/core/errors.hpp>
#include <weft/core/job_types.hpp>

namespace weft {

// How an instance ended.
enum class outcome_kind : std::uint8_t {
  value,
  error,      // its last attempt threw
  cancelled,  // it was withdrawn: asked to stop, or never begun
  timed_out,  // its last attempt, or the group, took too long
};

// "value", "error", "cancelled" or "timed out".
[[nodiscard]] std::string_view to_string(outcome_kind kind) noexcept;

namespace flow {

// Throws timed_out, in words for a user.
[[noreturn]] void throw_timed_out(std::size_t index, unsigned attempts);

}  // namespace flow

// What became of one instance.
//
// Threads: one at a time. void results are std::monostate.
template <class R>
class outcome {
 public:
  using value_type = detail::value_of<R>;

  outcome(std::size_t index, unsigned attempts, value_type value)
      : value_(std::move(value)), index_(index), attempts_(attempts), kind_(outcome_kind::value) {}
  outcome(std::size_t index, unsigned attempts, std::exception_ptr error) noexcept
      : error_(std::move(error)), index_(index), attempts_(attempts), kind_(outcome_kind::error) {}
  outcome(std::size_t index, unsigned attempts, outcome_kind without_result) noexcept
      : index_(index), attempts_(attempts), kind_(without_result) {}

  // By order of add(), from 0; a retry keeps it.
  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  // How often it was given to its lane, or should have been; 0: it was withdrawn before.
  [[nodiscard]] unsigned attempts() const noexcept { return attempts_; }
  [[nodiscard]] outcome_kind kind() const noexcept { return kind_; }
  [[nodiscard]] bool has_value() const noexcept { return kind_ == outcome_kind::value; }
  explicit operator bool() const noexcept { return has_value(); }

  // The value; else throws what came instead: the error, cancelled or timed_out.
  [[nodiscard]] value_type& value() & {
    require_value();
    return *value_;
  }
  [[nodiscard]] const value_type& value() const& {
    require_value();
    return *value_;
  }
  [[nodiscard]] value_type value() && {
    require_value();
    return std::move(*value_);
  }
  // Null unless kind() is error.
  [[nodiscard]] std::exception_ptr error() const noexcept { return error_; }

 private:
  void require_value() const {
    switch (kind_) {
      case outcome_kind::value:
        return;
      case outcome_kind::error:
        std::rethrow_exception(error_);
      case outcome_kind::timed_out:
        flow::throw_timed_out(index_, attempts_);
      case outcome_kind::cancelled:
        throw cancelled();
    }
  }

  std::optional<value_type> value_;
  std::exception_ptr error_;
  std::size_t index_;
  unsigned attempts_;
  outcome_kind kind_;
};

}  // namespace weft
