use crate::support::{emit, process_cpu, rounds_for_us, run, spin_rounds, Options};
use std::time::Instant;

async fn run_instances(count: usize, rounds: u64) {
    let handles: Vec<_> = (0..count).map(|_| tokio::spawn(async move { spin_rounds(rounds) })).collect();
    for handle in handles {
        handle.await.unwrap();
    }
}

pub fn measure(options: &Options) {
    let rounds = rounds_for_us(options, 1000.0);
    let count = if options.quick { 200 } else { 1000 };
    let (wall, cpu) = run(options.threads, async move {
        run_instances(20, rounds).await;
        let (begin, cpu_begin) = (Instant::now(), process_cpu());
        run_instances(count, rounds).await;
        (begin.elapsed().as_secs_f64(), (process_cpu() - cpu_begin).as_secs_f64())
    });
    emit("utilisation", "%", 100.0 * cpu / (options.threads as f64 * wall));
    emit("time", "ms", wall * 1e3);
}
