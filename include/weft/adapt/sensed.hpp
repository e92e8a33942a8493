#pragma once

#include <optional>
#include <string>
#include <utility>

#include <weft/base/assert.hpp>

namespace weft::adapt {

// Why a value is not available here, for the person who asks.
struct unavailable {
  std::string reason;
};

// A value, or the reason why it is not available here.
//
// What a machine does not tell is neither zero nor an error: those who combine readings leave it
// out, those who show them show the reason.
template <class T>
class sensed {
 public:
  sensed() : reason_("not read") {}
  // Not explicit: a function that senses returns either of the two.
  sensed(T value) : value_(std::move(value)) {}
  sensed(unavailable why) : reason_(std::move(why.reason)) {}

  explicit operator bool() const noexcept { return value_.has_value(); }

  [[nodiscard]] const T& operator*() const& noexcept { return checked(*this); }
  [[nodiscard]] T& operator*() & noexcept { return checked(*this); }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(checked(*this)); }
  [[nodiscard]] const T* operator->() const noexcept { return &checked(*this); }
  [[nodiscard]] T* operator->() noexcept { return &checked(*this); }

  // Empty when there is a value.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

  friend bool operator==(const sensed&, const sensed&) = default;

 private:
  template <class Self>
  static auto& checked(Self& self) noexcept {
    WEFT_ASSERT(self.value_.has_value(), "look whether a sensed value is there before using it");
    return *self.value_;
  }

  std::optional<T> value_;
  std::string reason_;
};

}  // namespace weft::adapt
