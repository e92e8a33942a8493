use crate::support::{emit, fail, pool, rendezvous, skip, Options};
use std::process::Command;

fn resident_kb() -> i64 {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = rollup.lines().find(|line| line.starts_with("Rss:"));
    line.and_then(|l| l.split_whitespace().nth(1)).and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Runs in a process of its own and prints its resident memory in KB.
pub fn child(options: &Options) {
    let pool = pool(options.threads);
    rendezvous(&pool, options.threads);
    println!("{}", resident_kb());
}

fn resident_kb_with(workers: usize) -> f64 {
    let program = std::env::current_exe().unwrap_or_else(|_| fail("cannot find this program"));
    let output = Command::new(program).args(["memory_child", "--threads", &workers.to_string()]).output();
    let output = output.unwrap_or_else(|_| fail("cannot start the measured child process"));
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().unwrap_or_else(|_| fail("the measured child process died"))
}

pub fn measure(options: &Options) {
    if options.threads < 2 {
        skip("the difference needs at least two workers");
    }
    let extra_kb = resident_kb_with(options.threads) - resident_kb_with(1);
    emit("per_worker", "KB", extra_kb / (options.threads - 1) as f64);
}
