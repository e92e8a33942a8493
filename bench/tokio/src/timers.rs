use crate::support::{emit, process_cpu, quantile, run, Options};
use std::time::{Duration, Instant};

const TASKS: usize = 100_000;
const LENGTH: Duration = Duration::from_millis(10);

async fn sleep_once() -> f64 {
    let begin = Instant::now();
    tokio::time::sleep(LENGTH).await;
    (begin.elapsed().as_secs_f64() - LENGTH.as_secs_f64()) * 1e3
}

pub fn measure(options: &Options) {
    let (late_ms, wall, cpu) = run(options.threads, async {
        let (begin, cpu_begin) = (Instant::now(), process_cpu());
        let handles: Vec<_> = (0..TASKS).map(|_| tokio::spawn(sleep_once())).collect();
        let mut late_ms = Vec::with_capacity(TASKS);
        for handle in handles {
            late_ms.push(handle.await.unwrap());
        }
        (late_ms, begin.elapsed(), process_cpu() - cpu_begin)
    });
    emit("time", "ms", wall.as_secs_f64() * 1e3);
    emit("cpu", "ms", cpu.as_secs_f64() * 1e3);
    emit("late_p50", "ms", quantile(&late_ms, 0.50));
    emit("late_p99", "ms", quantile(&late_ms, 0.99));
}
