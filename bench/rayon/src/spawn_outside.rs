use crate::support::{emit, emit_quantiles, pool, time_each, Countdown, Options};
use std::time::Instant;

/// Detached tasks need data that lives for ever; a few counters per process may.
fn counter(count: usize) -> &'static Countdown {
    Box::leak(Box::new(Countdown::new(count)))
}

pub fn measure(options: &Options) {
    let pool = pool(options.threads);
    let tasks = if options.quick { 250_000 } else { 1_000_000 };
    let round = |count: usize| {
        let left = counter(count);
        let begin = Instant::now();
        for _ in 0..count {
            pool.spawn(move || left.arrive());
        }
        left.wait();
        begin.elapsed().as_secs_f64()
    };
    round(tasks / 10);
    emit("rate", "M/s", tasks as f64 / round(tasks) / 1e6);

    let left = counter(tasks);
    let elapsed = time_each(tasks, || pool.spawn(move || left.arrive()));
    left.wait();
    emit_quantiles(&elapsed);
}
