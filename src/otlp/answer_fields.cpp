#include "otlp/answer_fields.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

namespace weft::otlp {
namespace {

using nlohmann::json;

// Follows the text and keeps no tree of it: a collector may answer with anything, and a tree of
// brackets alone takes twenty times their size.
class reader final : public nlohmann::json_sax<json> {
 public:
  explicit reader(std::string_view rejected_name) : rejected_name_(rejected_name) {}

  [[nodiscard]] std::optional<answer_fields> result() && {
    if (!is_object_) return std::nullopt;
    return std::move(found_);
  }

  bool start_object(std::size_t /*elements*/) override {
    if (depth_ == 0) is_object_ = true;
    if (depth_ == 1) in_partial_ = is_object_ && key_ == "partialSuccess";
    ++depth_;
    return true;
  }
  bool start_array(std::size_t /*elements*/) override {
    if (depth_ == 1) in_partial_ = false;
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(std::string& name) override {
    if (depth_ <= 2) key_ = std::move(name);
    return true;
  }

  bool string(std::string& value) override {
    if (is_in_answer() && key_ == "message") {
      found_.message = std::move(value);
    } else if (is_in_partial() && key_ == "errorMessage") {
      found_.error_message = std::move(value);
    } else if (is_rejected()) {
      found_.rejected = number_in(value);  // one of 64 bits is a string in the JSON of Protobuf
    }
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (is_rejected()) found_.rejected = value;
    return true;
  }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const std::string& /*text*/) override { return true; }
  bool binary(json::binary_t& /*value*/) override { return true; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const json::exception& /*why*/) override {
    is_object_ = false;
    return false;
  }

 private:
  [[nodiscard]] bool is_in_answer() const noexcept { return is_object_ && depth_ == 1; }
  [[nodiscard]] bool is_in_partial() const noexcept { return in_partial_ && depth_ == 2; }
  [[nodiscard]] bool is_rejected() const noexcept {
    return is_in_partial() && key_ == rejected_name_;
  }

  static std::uint64_t number_in(const std::string& text) noexcept {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc() && read.ptr == end ? value : 0;
  }

  const std::string_view rejected_name_;
  answer_fields found_;
  std::size_t depth_ = 0;
  std::string key_;  // of what comes next, in the outermost two objects
  bool is_object_ = false;
  bool in_partial_ = false;
};

}  // namespace

std::optional<answer_fields> read_answer(const std::string& text, std::string_view rejected_name) {
  reader from(rejected_name);
  static_cast<void>(json::sax_parse(text, &from));
  return std::move(from).result();
}

}  // namespace weft::otlp
