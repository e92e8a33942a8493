use crate::support::{measure_time, pool, rounds_for_us, spin_rounds, Options};

pub fn measure(options: &Options) {
    let pool = pool(options.threads);
    let rounds = rounds_for_us(options, 100.0);
    let jobs_per_ms = if options.quick { 1 } else { 10 };
    let solve = || {
        pool.scope(|scope| {
            for ms in [100, 100, 200, 350] {
                scope.spawn(move |_| {
                    rayon::scope(|part| {
                        for _ in 0..ms * jobs_per_ms {
                            part.spawn(move |_| spin_rounds(rounds));
                        }
                    });
                });
            }
        });
    };
    measure_time(options, || spin_rounds(rounds), solve);
}
