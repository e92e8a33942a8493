#pragma once

// Every layer of Weft that needs no third-party header.

#include <weft/adapt/breaker.hpp>
#include <weft/adapt/health.hpp>
#include <weft/adapt/machine_health.hpp>
#include <weft/adapt/policy/health_zones.hpp>
#include <weft/adapt/simulate.hpp>
#include <weft/core/blocking.hpp>
#include <weft/core/context.hpp>
#include <weft/core/join.hpp>
#include <weft/core/limiter.hpp>
#include <weft/core/parallel/find.hpp>
#include <weft/core/parallel/for.hpp>
#include <weft/core/parallel/invoke.hpp>
#include <weft/core/parallel/reduce.hpp>
#include <weft/core/parallel/scan.hpp>
#include <weft/core/parallel/sort.hpp>
#include <weft/core/parallel/stable_sort.hpp>
#include <weft/core/parallel/transform.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>
#include <weft/core/when.hpp>
#include <weft/coro/async_event.hpp>
#include <weft/coro/async_semaphore.hpp>
#include <weft/coro/await_future.hpp>
#include <weft/coro/channel.hpp>
#include <weft/coro/in_context.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/this_task.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/coro/when.hpp>
#include <weft/exec/completion.hpp>
#include <weft/exec/executor.hpp>
#include <weft/process/supervisor.hpp>
#include <weft/telemetry/stall_detector.hpp>
#include <weft/telemetry/trace.hpp>
#include <weft/telemetry/trace_writer.hpp>
#include <weft/version.hpp>

// Weft can be installed without the hybrid scheduler, with what stands on it, without the batch
// runner, without the metrics, and without the export to OpenTelemetry.
#if __has_include(<weft/io/hybrid.hpp>)
#include <weft/flow/case_scope.hpp>
#include <weft/flow/each.hpp>
#include <weft/flow/instance_group.hpp>
#include <weft/io/hybrid.hpp>
#include <weft/io/learned_classifier.hpp>
#include <weft/io/socket.hpp>
#endif
#if __has_include(<weft/batch/runner.hpp>)
#include <weft/batch/plan.hpp>
#include <weft/batch/runner.hpp>
#endif
#if __has_include(<weft/metrics/metrics.hpp>)
#include <weft/metrics/metrics.hpp>
#endif
#if __has_include(<weft/otlp/exporter.hpp>)
#include <weft/otlp/exporter.hpp>
#include <weft/otlp/json.hpp>
#endif
