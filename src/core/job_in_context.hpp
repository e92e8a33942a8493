#pragma once

#include <utility>

#include <weft/core/context.hpp>
#include <weft/core/job.hpp>
#include <weft/core/job_memory.hpp>

namespace weft::detail {

// Another job, and the context in which it was spawned. Jobs without one need no room for it.
class job_in_context final : public queued_job, public job_memory {
 public:
  job_in_context(queued_job& inner, context c) noexcept : inner_(inner), context_(std::move(c)) {
    call = &called;
  }

 private:
  static void called(job& self, job_fate fate) noexcept {
    auto& me = static_cast<job_in_context&>(self);
    queued_job& inner = me.inner_;
    const work_scope scope(me.context_);
    delete &me;
    inner.call(inner, fate);
  }

  queued_job& inner_;
  context context_;
};

}  // namespace weft::detail
