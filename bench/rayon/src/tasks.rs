use crate::support::{emit, pool, rounds_for_us, spin_rounds, Options};
use std::time::Instant;

pub fn measure(options: &Options) {
    let pool = pool(options.threads);
    let rounds = rounds_for_us(options, 100.0);
    let round = |count: usize| {
        let mut durations = vec![0.0; count];
        let begin = Instant::now();
        pool.scope(|scope| {
            for duration in durations.iter_mut() {
                scope.spawn(move |_| {
                    let started = Instant::now();
                    spin_rounds(rounds);
                    *duration = started.elapsed().as_secs_f64();
                });
            }
        });
        let makespan = begin.elapsed().as_secs_f64();
        durations.iter().sum::<f64>() / (options.threads as f64 * makespan)
    };
    round(100);
    emit("utilisation", "ratio", round(if options.quick { 2_000 } else { 10_000 }));
}
