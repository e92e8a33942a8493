use crate::support::{clock_ns, emit, pool, rendezvous, Options};
use std::fs;
use std::thread::sleep;
use std::time::Duration;

fn workers_cpu_ns() -> i64 {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID) - clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Context switches so far of every thread but the main one.
fn worker_context_switches() -> i64 {
    let main_thread = std::process::id().to_string();
    let mut switches = 0;
    for task in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        if task.file_name().to_string_lossy() == main_thread {
            continue;
        }
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        for line in status.lines().filter(|line| line.contains("ctxt_switches")) {
            switches += line.split_whitespace().last().and_then(|n| n.parse::<i64>().ok()).unwrap_or(0);
        }
    }
    switches
}

pub fn measure(options: &Options) {
    let pool = pool(options.threads);
    rendezvous(&pool, options.threads);
    sleep(Duration::from_millis(200));
    let switches_before = worker_context_switches();
    let cpu_before = workers_cpu_ns();
    sleep(Duration::from_secs(if options.quick { 2 } else { 10 }));
    let cpu_ns = workers_cpu_ns() - cpu_before;
    let switches = worker_context_switches() - switches_before;
    emit("cpu", "ms", (cpu_ns as f64 / 1e6).max(0.0));
    emit("switches", "count", switches as f64);
}
