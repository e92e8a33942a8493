// Written by tools/telemetry_schema from src/telemetry/schema; change that.
#pragma once

#include <array>
#include <string_view>

#include <weft/telemetry/metric_schema.hpp>

// clang-format off

// Attributes, and the values of those that have only some.
namespace weft::telemetry::attribute {

inline constexpr std::string_view scheduler_name = "scheduler.name";
inline constexpr std::string_view scheduler_worker_id = "scheduler.worker.id";
inline constexpr std::string_view scheduler_task_id = "scheduler.task.id";
inline constexpr std::string_view scheduler_task_name = "scheduler.task.name";
inline constexpr std::string_view scheduler_task_type = "scheduler.task.type";
inline constexpr std::array<std::string_view, 3> scheduler_task_type_values = {
    "cpu_bound",
    "io_bound",
    "blocking",
};
inline constexpr std::string_view hybrid_io_engine = "hybrid.io.engine";
inline constexpr std::array<std::string_view, 2> hybrid_io_engine_values = {
    "epoll",
    "io_uring",
};
inline constexpr std::string_view executor_name = "executor.name";
inline constexpr std::string_view executor_resize_direction = "executor.resize.direction";
inline constexpr std::array<std::string_view, 2> executor_resize_direction_values = {
    "up",
    "down",
};
inline constexpr std::string_view batch_name = "batch.name";
inline constexpr std::string_view batch_rule_outcome = "batch.rule.outcome";
inline constexpr std::array<std::string_view, 6> batch_rule_outcome_values = {
    "passed",
    "flaky",
    "warned",
    "failed",
    "timed_out",
    "skipped",
};
inline constexpr std::string_view policy_name = "policy.name";
inline constexpr std::string_view policy_reason = "policy.reason";
inline constexpr std::array<std::string_view, 28> policy_reason_values = {
    "health_critical",
    "health_warning",
    "health_safe",
    "health_stale",
    "health_timeout",
    "circuit_open",
    "bounds",
    "config",
    "started",
    "no_demand",
    "not_in_force",
    "measuring",
    "settled",
    "growing",
    "growth_kept",
    "growth_undone",
    "probing_down",
    "probe_kept",
    "probe_undone",
    "work_changed",
    "machine_busy",
    "at_bounds",
    "settling",
    "cooling_down",
    "unmeasured",
    "worker_added",
    "no_headroom",
    "batch_size",
};
inline constexpr std::string_view policy_zone = "policy.zone";
inline constexpr std::array<std::string_view, 4> policy_zone_values = {
    "none",
    "critical",
    "warning",
    "safe",
};
inline constexpr std::string_view policy_gate = "policy.gate";
inline constexpr std::array<std::string_view, 4> policy_gate_values = {
    "none",
    "up",
    "down",
    "hold",
};
inline constexpr std::string_view policy_event = "policy.event";
inline constexpr std::array<std::string_view, 10> policy_event_values = {
    "limit_changed",
    "gate_bypassed",
    "floor_enforced",
    "fluctuation_damped",
    "score_changed",
    "timeout_began",
    "stale_began",
    "health_recovered",
    "breaker_opened",
    "breaker_closed",
};

}  // namespace weft::telemetry::attribute

namespace weft::telemetry::span_name {

inline constexpr std::string_view scheduler_task_execute = "scheduler.task.execute";

}  // namespace weft::telemetry::span_name

namespace weft::telemetry::metric {

inline constexpr metric_schema scheduler_tasks_spawned = {
    .name = "scheduler.tasks.spawned", .prometheus_name = "scheduler_tasks_spawned_total",
    .kind = instrument::counter, .unit = "{task}",
    .brief = "Tasks spawned or submitted.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_tasks_completed = {
    .name = "scheduler.tasks.completed", .prometheus_name = "scheduler_tasks_completed_total",
    .kind = instrument::counter, .unit = "{task}",
    .brief = "Tasks run to their end, stolen halves of forks included.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_tasks_stolen = {
    .name = "scheduler.tasks.stolen", .prometheus_name = "scheduler_tasks_stolen_total",
    .kind = instrument::counter, .unit = "{task}",
    .brief = "Tasks that a worker took from another one.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_tasks_injected = {
    .name = "scheduler.tasks.injected", .prometheus_name = "scheduler_tasks_injected_total",
    .kind = instrument::counter, .unit = "{task}",
    .brief = "Tasks that a worker took from the queue of tasks from outside.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_tasks_dropped = {
    .name = "scheduler.tasks.dropped", .prometheus_name = "scheduler_tasks_dropped_total",
    .kind = instrument::counter, .unit = "{task}",
    .brief = "Tasks cancelled before they began.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_tasks_queued = {
    .name = "scheduler.tasks.queued", .prometheus_name = "scheduler_tasks_queued",
    .kind = instrument::updowncounter, .unit = "{task}",
    .brief = "Tasks that wait for a worker now, in all queues.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_queue_depth = {
    .name = "scheduler.queue.depth", .prometheus_name = "scheduler_queue_depth",
    .kind = instrument::histogram, .unit = "{task}",
    .brief = "Tasks that waited for a worker, in all queues, whenever somebody looked.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_task_schedule_latency = {
    .name = "scheduler.task.schedule.latency", .prometheus_name = "scheduler_task_schedule_latency_seconds",
    .kind = instrument::histogram, .unit = "s",
    .brief = "Time from ready to running, of probes that were queued like tasks from outside.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_workers_limit = {
    .name = "scheduler.workers.limit", .prometheus_name = "scheduler_workers_limit",
    .kind = instrument::updowncounter, .unit = "{worker}",
    .brief = "Workers that may run at once now.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_workers_idle = {
    .name = "scheduler.workers.idle", .prometheus_name = "scheduler_workers_idle",
    .kind = instrument::updowncounter, .unit = "{worker}",
    .brief = "Workers of these that have nothing to do.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_workers_waiting = {
    .name = "scheduler.workers.waiting", .prometheus_name = "scheduler_workers_waiting",
    .kind = instrument::updowncounter, .unit = "{worker}",
    .brief = "Workers that sleep inside a task until what it waits for has happened.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_workers_lent = {
    .name = "scheduler.workers.lent", .prometheus_name = "scheduler_workers_lent",
    .kind = instrument::updowncounter, .unit = "{worker}",
    .brief = "Workers whose place a thread from outside has taken.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_workers_parks = {
    .name = "scheduler.workers.parks", .prometheus_name = "scheduler_workers_parks_total",
    .kind = instrument::counter, .unit = "{park}",
    .brief = "Times a worker went to sleep.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema scheduler_workers_wakes = {
    .name = "scheduler.workers.wakes", .prometheus_name = "scheduler_workers_wakes_total",
    .kind = instrument::counter, .unit = "{wake}",
    .brief = "Times a worker was woken.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema hybrid_tasks_spawned = {
    .name = "hybrid.tasks.spawned", .prometheus_name = "hybrid_tasks_spawned_total",
    .kind = instrument::counter, .unit = "{task}",
    .brief = "Tasks spawned, in any lane.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema hybrid_tasks_completed = {
    .name = "hybrid.tasks.completed", .prometheus_name = "hybrid_tasks_completed_total",
    .kind = instrument::counter, .unit = "{task}",
    .brief = "Tasks that have ended, in any lane.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema hybrid_tasks_live = {
    .name = "hybrid.tasks.live", .prometheus_name = "hybrid_tasks_live",
    .kind = instrument::updowncounter, .unit = "{task}",
    .brief = "Tasks that were spawned and have not ended; they are queued, run or are suspended.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema hybrid_io_threads = {
    .name = "hybrid.io.threads", .prometheus_name = "hybrid_io_threads",
    .kind = instrument::updowncounter, .unit = "{thread}",
    .brief = "Threads of the I/O lane.",
    .attribute_count = 2, .attributes = {attribute::scheduler_name, attribute::hybrid_io_engine},
};
inline constexpr metric_schema hybrid_blocking_threads_live = {
    .name = "hybrid.blocking.threads.live", .prometheus_name = "hybrid_blocking_threads_live",
    .kind = instrument::updowncounter, .unit = "{thread}",
    .brief = "Threads of the blocking lane.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema hybrid_blocking_threads_idle = {
    .name = "hybrid.blocking.threads.idle", .prometheus_name = "hybrid_blocking_threads_idle",
    .kind = instrument::updowncounter, .unit = "{thread}",
    .brief = "Threads of the blocking lane that have nothing to do.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema hybrid_blocking_threads_started = {
    .name = "hybrid.blocking.threads.started", .prometheus_name = "hybrid_blocking_threads_started_total",
    .kind = instrument::counter, .unit = "{thread}",
    .brief = "Threads that the blocking lane has started.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema hybrid_blocking_jobs_running = {
    .name = "hybrid.blocking.jobs.running", .prometheus_name = "hybrid_blocking_jobs_running",
    .kind = instrument::updowncounter, .unit = "{job}",
    .brief = "Calls that run in the blocking lane.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema hybrid_blocking_jobs_waiting = {
    .name = "hybrid.blocking.jobs.waiting", .prometheus_name = "hybrid_blocking_jobs_waiting",
    .kind = instrument::updowncounter, .unit = "{job}",
    .brief = "Calls that wait for a thread of the blocking lane.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema hybrid_blocking_jobs_refused = {
    .name = "hybrid.blocking.jobs.refused", .prometheus_name = "hybrid_blocking_jobs_refused_total",
    .kind = instrument::counter, .unit = "{job}",
    .brief = "Calls refused because the blocking lane was full.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema hybrid_blocking_jobs_run_by_callers = {
    .name = "hybrid.blocking.jobs.run_by_callers", .prometheus_name = "hybrid_blocking_jobs_run_by_callers_total",
    .kind = instrument::counter, .unit = "{job}",
    .brief = "Calls that ran in their caller because no thread could be made.",
    .attribute_count = 1, .attributes = {attribute::scheduler_name},
};
inline constexpr metric_schema executor_workers_current = {
    .name = "executor.workers.current", .prometheus_name = "executor_workers_current",
    .kind = instrument::updowncounter, .unit = "{worker}",
    .brief = "Workers that the executor has now.",
    .attribute_count = 1, .attributes = {attribute::executor_name},
};
inline constexpr metric_schema executor_workers_min = {
    .name = "executor.workers.min", .prometheus_name = "executor_workers_min",
    .kind = instrument::updowncounter, .unit = "{worker}",
    .brief = "Workers that it keeps at least.",
    .attribute_count = 1, .attributes = {attribute::executor_name},
};
inline constexpr metric_schema executor_workers_max = {
    .name = "executor.workers.max", .prometheus_name = "executor_workers_max",
    .kind = instrument::updowncounter, .unit = "{worker}",
    .brief = "Workers that it may have at most.",
    .attribute_count = 1, .attributes = {attribute::executor_name},
};
inline constexpr metric_schema executor_resizes = {
    .name = "executor.resizes", .prometheus_name = "executor_resizes_total",
    .kind = instrument::counter, .unit = "{resize}",
    .brief = "Changes of the size.",
    .attribute_count = 3, .attributes = {attribute::executor_name, attribute::executor_resize_direction, attribute::policy_reason},
};
inline constexpr metric_schema executor_items_completed = {
    .name = "executor.items.completed", .prometheus_name = "executor_items_completed_total",
    .kind = instrument::counter, .unit = "{item}",
    .brief = "Submitted tasks and items of maps that were run.",
    .attribute_count = 1, .attributes = {attribute::executor_name},
};
inline constexpr metric_schema executor_stalls = {
    .name = "executor.stalls", .prometheus_name = "executor_stalls_total",
    .kind = instrument::counter, .unit = "{stall}",
    .brief = "Times the workers of a map ran dry because a slow item held up the ones after it.",
    .attribute_count = 1, .attributes = {attribute::executor_name},
};
inline constexpr metric_schema executor_tasks_unfinished = {
    .name = "executor.tasks.unfinished", .prometheus_name = "executor_tasks_unfinished",
    .kind = instrument::updowncounter, .unit = "{task}",
    .brief = "Submitted tasks that have not ended.",
    .attribute_count = 1, .attributes = {attribute::executor_name},
};
inline constexpr metric_schema executor_maps_unfinished = {
    .name = "executor.maps.unfinished", .prometheus_name = "executor_maps_unfinished",
    .kind = instrument::updowncounter, .unit = "{map}",
    .brief = "Maps that have begun and not ended.",
    .attribute_count = 1, .attributes = {attribute::executor_name},
};
inline constexpr metric_schema executor_memory_short = {
    .name = "executor.memory.short", .prometheus_name = "executor_memory_short",
    .kind = instrument::gauge, .unit = "{condition}",
    .brief = "1 while memory is short and tasks begin one at a time, else 0.",
    .attribute_count = 1, .attributes = {attribute::executor_name},
};
inline constexpr metric_schema batch_runs_started = {
    .name = "batch.runs.started", .prometheus_name = "batch_runs_started_total",
    .kind = instrument::counter, .unit = "{run}",
    .brief = "Runs begun.",
    .attribute_count = 1, .attributes = {attribute::batch_name},
};
inline constexpr metric_schema batch_rules_finished = {
    .name = "batch.rules.finished", .prometheus_name = "batch_rules_finished_total",
    .kind = instrument::counter, .unit = "{rule}",
    .brief = "Rules dealt with, by how they came out.",
    .attribute_count = 2, .attributes = {attribute::batch_name, attribute::batch_rule_outcome},
};
inline constexpr metric_schema batch_rules_running = {
    .name = "batch.rules.running", .prometheus_name = "batch_rules_running",
    .kind = instrument::updowncounter, .unit = "{rule}",
    .brief = "Rules that run now, in all runs.",
    .attribute_count = 1, .attributes = {attribute::batch_name},
};
inline constexpr metric_schema batch_rules_waiting = {
    .name = "batch.rules.waiting", .prometheus_name = "batch_rules_waiting",
    .kind = instrument::updowncounter, .unit = "{rule}",
    .brief = "Rules that have not begun, or are between two attempts, in runs that go on.",
    .attribute_count = 1, .attributes = {attribute::batch_name},
};
inline constexpr metric_schema batch_attempts_repeated = {
    .name = "batch.attempts.repeated", .prometheus_name = "batch_attempts_repeated_total",
    .kind = instrument::counter, .unit = "{attempt}",
    .brief = "Attempts that failed and were followed by another.",
    .attribute_count = 1, .attributes = {attribute::batch_name},
};
inline constexpr metric_schema batch_rules_stolen = {
    .name = "batch.rules.stolen", .prometheus_name = "batch_rules_stolen_total",
    .kind = instrument::counter, .unit = "{rule}",
    .brief = "Rules that a worker took from another one.",
    .attribute_count = 1, .attributes = {attribute::batch_name},
};
inline constexpr metric_schema batch_rule_duration = {
    .name = "batch.rule.duration", .prometheus_name = "batch_rule_duration_seconds",
    .kind = instrument::histogram, .unit = "s",
    .brief = "How long the last attempt of a rule took.",
    .attribute_count = 1, .attributes = {attribute::batch_name},
};
inline constexpr metric_schema policy_limit = {
    .name = "policy.limit", .prometheus_name = "policy_limit",
    .kind = instrument::gauge, .unit = "{task}",
    .brief = "How much may run at once.",
    .attribute_count = 1, .attributes = {attribute::policy_name},
};
inline constexpr metric_schema policy_target = {
    .name = "policy.target", .prometheus_name = "policy_target",
    .kind = instrument::gauge, .unit = "{task}",
    .brief = "Where the rules want the limit, before cooldowns and steps.",
    .attribute_count = 1, .attributes = {attribute::policy_name},
};
inline constexpr metric_schema policy_score = {
    .name = "policy.score", .prometheus_name = "policy_score",
    .kind = instrument::gauge, .unit = "{point}",
    .brief = "The health score of the last decision that had one, 0 to 100.",
    .attribute_count = 1, .attributes = {attribute::policy_name},
};
inline constexpr metric_schema policy_zone_active = {
    .name = "policy.zone.active", .prometheus_name = "policy_zone_active",
    .kind = instrument::gauge, .unit = "{condition}",
    .brief = "1 for the zone of the last decision, 0 for the others.",
    .attribute_count = 2, .attributes = {attribute::policy_name, attribute::policy_zone},
};
inline constexpr metric_schema policy_decisions = {
    .name = "policy.decisions", .prometheus_name = "policy_decisions_total",
    .kind = instrument::counter, .unit = "{decision}",
    .brief = "Decisions, by the rule that made them and by what kept the limit.",
    .attribute_count = 3, .attributes = {attribute::policy_name, attribute::policy_reason, attribute::policy_gate},
};
inline constexpr metric_schema policy_events = {
    .name = "policy.events", .prometheus_name = "policy_events_total",
    .kind = instrument::counter, .unit = "{event}",
    .brief = "Events that came with decisions.",
    .attribute_count = 2, .attributes = {attribute::policy_name, attribute::policy_event},
};

inline constexpr std::array<const metric_schema*, 47> all = {
    &scheduler_tasks_spawned,
    &scheduler_tasks_completed,
    &scheduler_tasks_stolen,
    &scheduler_tasks_injected,
    &scheduler_tasks_dropped,
    &scheduler_tasks_queued,
    &scheduler_queue_depth,
    &scheduler_task_schedule_latency,
    &scheduler_workers_limit,
    &scheduler_workers_idle,
    &scheduler_workers_waiting,
    &scheduler_workers_lent,
    &scheduler_workers_parks,
    &scheduler_workers_wakes,
    &hybrid_tasks_spawned,
    &hybrid_tasks_completed,
    &hybrid_tasks_live,
    &hybrid_io_threads,
    &hybrid_blocking_threads_live,
    &hybrid_blocking_threads_idle,
    &hybrid_blocking_threads_started,
    &hybrid_blocking_jobs_running,
    &hybrid_blocking_jobs_waiting,
    &hybrid_blocking_jobs_refused,
    &hybrid_blocking_jobs_run_by_callers,
    &executor_workers_current,
    &executor_workers_min,
    &executor_workers_max,
    &executor_resizes,
    &executor_items_completed,
    &executor_stalls,
    &executor_tasks_unfinished,
    &executor_maps_unfinished,
    &executor_memory_short,
    &batch_runs_started,
    &batch_rules_finished,
    &batch_rules_running,
    &batch_rules_waiting,
    &batch_attempts_repeated,
    &batch_rules_stolen,
    &batch_rule_duration,
    &policy_limit,
    &policy_target,
    &policy_score,
    &policy_zone_active,
    &policy_decisions,
    &policy_events,
};

}  // namespace weft::telemetry::metric

// clang-format on
