#pragma once

#include "../support/options.hpp"
#include "../support/process.hpp"
#include "../support/rendezvous.hpp"
#include "../support/report.hpp"

// Resident memory per worker: (RSS with `threads` workers - RSS with one) / (threads - 1), each in
// a process of its own and after every worker has run a task. Thread stacks count as far as they
// were touched.
namespace memory {

template <class Runtime>
long resident_kb_with(int workers) {
  return bench::in_child([workers] {
    Runtime runtime(workers);
    bench::rendezvous everybody(workers);
    runtime.scope([&](auto spawn) {
      for (int i = 0; i < workers; ++i) spawn([&everybody] { everybody.arrive_and_wait(); });
    });
    return bench::resident_kb();
  });
}

template <class Runtime>
void measure(const bench::options& with) {
  if (with.threads < 2) bench::skip("the difference needs at least two workers");
  const auto extra_kb = resident_kb_with<Runtime>(with.threads) - resident_kb_with<Runtime>(1);
  bench::emit("per_worker", "KB", static_cast<double>(extra_kb) / (with.threads - 1));
}

}  // namespace memory
