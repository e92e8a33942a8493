#pragma once

#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>

#include <weft/batch/ready_queue.hpp>
#include <weft/batch/select.hpp>

namespace weft::cli {

// Decimal only: CLI11 by itself would take 010 for 8, and 0x10 for 16.
[[nodiscard]] CLI::Validator whole_number(int low, int high);

// "30s", "500ms", "1h30m".
[[nodiscard]] CLI::Validator duration();

// "512 MiB", or bytes.
[[nodiscard]] CLI::Validator size_in_bytes();

// A number of 0 or more.
[[nodiscard]] CLI::Validator decimal();

// The policy that is called so; the last one for any other name.
[[nodiscard]] run_policy policy_named(std::string_view name) noexcept;

// "2/4": the second of four parts. Nothing if it is something else.
[[nodiscard]] std::optional<batch::shard> parse_shard(std::string_view text);
[[nodiscard]] CLI::Validator shard();

}  // namespace weft::cli
