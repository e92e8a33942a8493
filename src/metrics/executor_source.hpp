#pragma once

#include <weft/exec/executor.hpp>

#include "metrics/pool_source.hpp"
#include "metrics/registry.hpp"

namespace weft::telemetry {

class executor_source final : public source {
 public:
  explicit executor_source(const executor& what) : executor_(what) {}
  void collect(snapshot& into) override;
  void sample() override;

 private:
  const executor& executor_;
  depth_samples depths_;
};

}  // namespace weft::telemetry
