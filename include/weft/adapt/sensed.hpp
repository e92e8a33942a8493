#pragma once

#include <string>
#include <utility>
#include <variant>

#include <weft/base/assert.hpp>

namespace weft::adapt {

// Why a value is not available here, for the person who asks.
struct unavailable {
  std::string reason;
  friend bool operator==(const unavailable&, const unavailable&) = default;
};

// A value, or the reason why it is not available here.
//
// What a machine does not tell is neither zero nor an error: those who combine readings leave it
// out, those who show them show the reason.
template <class T>
class sensed {
 public:
  sensed() : state_(unavailable{"not read"}) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a function that senses returns either of the two.
  sensed(T value) : state_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  sensed(unavailable why) : state_(std::move(why)) {}

  [[nodiscard]] bool available() const noexcept { return std::holds_alternative<T>(state_); }
  explicit operator bool() const noexcept { return available(); }

  [[nodiscard]] const T& operator*() const& noexcept { return value(); }
  [[nodiscard]] T& operator*() & noexcept { return value(); }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(value()); }
  [[nodiscard]] const T* operator->() const noexcept { return &value(); }
  [[nodiscard]] T* operator->() noexcept { return &value(); }

  // Empty when there is a value.
  [[nodiscard]] std::string reason() const {
    const auto* const why = std::get_if<unavailable>(&state_);
    return why != nullptr ? why->reason : std::string();
  }

  friend bool operator==(const sensed&, const sensed&) = default;

 private:
  [[nodiscard]] const T& value() const noexcept {
    WEFT_ASSERT(available(), "look whether a sensed value is available before using it");
    return *std::get_if<T>(&state_);
  }
  [[nodiscard]] T& value() noexcept { return const_cast<T&>(std::as_const(*this).value()); }

  std::variant<unavailable, T> state_;
};

}  // namespace weft::adapt
