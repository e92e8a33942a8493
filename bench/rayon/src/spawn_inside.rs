use crate::support::{emit, emit_quantiles, pool, time_each, Options};
use std::time::Instant;

pub fn measure(options: &Options) {
    let pool = pool(options.threads);
    let tasks = if options.quick { 250_000 } else { 1_000_000 };
    let round = |count: usize| {
        let mut begin = Instant::now();
        pool.scope(|scope| {
            begin = Instant::now();
            for _ in 0..count {
                scope.spawn(|_| {});
            }
        });
        begin.elapsed().as_secs_f64()
    };
    round(tasks / 10);
    emit("rate", "M/s", tasks as f64 / round(tasks) / 1e6);
    let elapsed = pool.scope(|scope| time_each(tasks, || scope.spawn(|_| {})));
    emit_quantiles(&elapsed);
}
