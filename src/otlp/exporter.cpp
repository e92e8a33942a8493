#include <weft/otlp/exporter.hpp>

#include <utility>

#include "otlp/export_loop.hpp"

namespace weft {

void otlp_entry::remove() noexcept {
  if (const auto from = std::exchange(in_, nullptr)) from->remove(id_);
}

otlp_exporter::otlp_exporter(otlp_options options)
    : loop_(std::make_shared<otlp::export_loop>(std::move(options))) {}

otlp_exporter::~otlp_exporter() { loop_->end(); }

otlp_entry otlp_exporter::add(trace& what) { return {loop_, loop_->add(&what)}; }

otlp_entry otlp_exporter::add(metrics& what) { return {loop_, loop_->add(&what)}; }

bool otlp_exporter::flush(std::chrono::milliseconds limit) { return loop_->flush(limit); }

otlp_stats otlp_exporter::stats() const { return loop_->stats(); }

}  // namespace weft
