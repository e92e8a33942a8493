#include <weft/otlp/exporter.hpp>

#include <utility>

#include "otlp/export_loop.hpp"

namespace weft {

void otlp_entry::remove() noexcept {
  const auto from = std::exchange(in_, nullptr);
  if (from != nullptr && !from->is_abandoned()) from->remove(id_);
}

otlp_exporter::otlp_exporter(otlp_options options)
    : loop_(std::make_shared<otlp::export_loop>(std::move(options))) {}

otlp_exporter::~otlp_exporter() {
  if (!loop_->is_abandoned()) {
    loop_->end();
    return;
  }
  // Left alone: closing the connection would take it out of the set of descriptors that the child
  // shares with its parent, who would wait for answers in vain.
  new std::shared_ptr(std::move(loop_));
}

otlp_entry otlp_exporter::add(trace& what) { return {loop_, loop_->add(&what)}; }

otlp_entry otlp_exporter::add(metrics& what) { return {loop_, loop_->add(&what)}; }

bool otlp_exporter::flush(std::chrono::milliseconds limit) { return loop_->flush(limit); }

otlp_stats otlp_exporter::stats() const { return loop_->stats(); }

}  // namespace weft
