#include <weft/core/context.hpp>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>

#include <weft/base/atomic.hpp>
#include <weft/core/job_memory.hpp>
#include <weft/core/observer.hpp>

#include "span_listeners.hpp"

namespace weft {
namespace detail {

// The name stands behind it, in the same block.
struct context_node {
  mutable atomic<std::uint32_t> references{1};
  std::uint32_t name_size = 0;
  trace_id trace;
  span_id span;
  span_id parent;
  std::chrono::steady_clock::time_point begin;  // in a trace
  bool sampled = true;

  [[nodiscard]] const char* name() const noexcept {
    return reinterpret_cast<const char*>(this) + sizeof(context_node);
  }
  [[nodiscard]] char* name() noexcept {
    return reinterpret_cast<char*>(this) + sizeof(context_node);
  }
  [[nodiscard]] std::size_t block_size() const noexcept { return sizeof(context_node) + name_size; }
};

// relaxed: by somebody who holds one.
void retain(const context_node& node) noexcept {
  node.references.fetch_add(1, std::memory_order_relaxed);
}

void release(const context_node& node) noexcept {
  // acq_rel: what the other holders read comes before the end.
  if (node.references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (node.trace && node.sampled && anybody_listens.load(std::memory_order_relaxed)) {
    tell_listeners({.name = {node.name(), node.name_size},
                    .trace = node.trace,
                    .id = node.span,
                    .parent = node.parent,
                    .begin = node.begin,
                    .end = std::chrono::steady_clock::now()});
  }
  const std::size_t size = node.block_size();
  node.~context_node();
  job_memory::put_frame(const_cast<context_node*>(&node), size);
}

namespace {

// For people: longer ones are cut.
constexpr std::size_t name_size_max = 4096;

// Outside a trace.
context_node& make_node(std::string_view name) {
  name = name.substr(0, name_size_max);
  const span_id id = new_span_id();  // may throw
  void* const block = job_memory::take_frame(sizeof(context_node) + name.size());
  auto* const node = new (block) context_node;
  node->name_size = static_cast<std::uint32_t>(name.size());
  if (!name.empty()) std::memcpy(node->name(), name.data(), name.size());
  node->span = id;
  return *node;
}

void join_trace(context_node& node, trace_id trace, span_id parent, bool sampled) noexcept {
  node.trace = trace;
  node.parent = parent;
  node.sampled = sampled;
  node.begin = std::chrono::steady_clock::now();
}

context adopt(context_node& node) noexcept {
  context made = context::of(&node);
  release(node);  // the one it was made with
  return made;
}

std::optional<std::uint64_t> hex(std::string_view digits) noexcept {
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<std::uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<std::uint64_t>(c - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return value;
}

struct trace_parent {
  trace_id trace;
  span_id span;
  bool sampled = false;
};

// 00-<32 digits>-<16 digits>-<2 digits>. Later versions may have more behind that.
std::optional<trace_parent> parse(std::string_view header) noexcept {
  constexpr std::size_t size = 55;
  if (header.size() < size || header[2] != '-' || header[35] != '-' || header[52] != '-') {
    return std::nullopt;
  }
  const auto version = hex(header.substr(0, 2));
  if (!version || *version == 0xff) return std::nullopt;
  if (header.size() > size && (*version == 0 || header[size] != '-')) return std::nullopt;
  const auto high = hex(header.substr(3, 16));
  const auto low = hex(header.substr(19, 16));
  const auto span = hex(header.substr(36, 16));
  const auto flags = hex(header.substr(53, 2));
  if (!high || !low || !span || !flags) return std::nullopt;
  const trace_parent found{.trace = {.high = *high, .low = *low},
                           .span = {.value = *span},
                           .sampled = (*flags & 1U) != 0};
  if (!found.trace || !found.span) return std::nullopt;
  return found;
}

}  // namespace

void work_scope::tell(const running& here, const context& of) noexcept {
  told_ = here.observer;
  worker_ = here.worker;
  told_->task_begins(worker_, of);
}

void work_scope::tell_end() const noexcept { told_->task_ends(worker_); }

}  // namespace detail

context context::current() noexcept {
  using detail::running;
  const running::work now = running::on_this_thread().now();
  if (const void* const chain = running::chain_of(now)) return of(detail::context_of_chain(chain));
  return of(running::context_of(now));
}

context context::new_trace(std::string_view name) {
  detail::context_node& node = detail::make_node(name);
  detail::join_trace(node, new_trace_id(), {}, true);
  return detail::adopt(node);
}

context context::from_traceparent(std::string_view header, std::string_view name) {
  const auto parent = detail::parse(header);
  if (!parent) return new_trace(name);
  detail::context_node& node = detail::make_node(name);
  detail::join_trace(node, parent->trace, parent->span, parent->sampled);
  return detail::adopt(node);
}

context context::part(std::string_view name) const {
  detail::context_node& node = detail::make_node(name);
  if (node_ != nullptr && node_->trace) {
    detail::join_trace(node, node_->trace, node_->span, node_->sampled);
  }
  return detail::adopt(node);
}

std::string_view context::name() const noexcept {
  return node_ != nullptr ? std::string_view(node_->name(), node_->name_size) : std::string_view();
}
trace_id context::trace() const noexcept { return node_ != nullptr ? node_->trace : trace_id(); }
span_id context::span() const noexcept { return node_ != nullptr ? node_->span : span_id(); }
span_id context::parent_span() const noexcept {
  return node_ != nullptr ? node_->parent : span_id();
}

bool context::is_sampled() const noexcept {
  return node_ != nullptr && node_->trace && node_->sampled;
}

std::string context::traceparent() const {
  if (node_ == nullptr || !node_->trace) return {};
  return "00-" + to_string(node_->trace) + "-" + to_string(node_->span) +
         (node_->sampled ? "-01" : "-00");
}

}  // namespace weft
