use crate::support::{emit, now_ns, pool, quantile, skip, Options};
use std::sync::atomic::{AtomicUsize, Ordering};

pub fn measure(options: &Options) {
    const BATCH_SIZE: usize = 1000;
    if options.threads < 2 {
        skip("a thief needs a second thread");
    }
    let pool = pool(options.threads);
    let batches = if options.quick { 60 } else { 200 };
    let mut samples = Vec::new();
    for _ in 0..batches {
        let executed = AtomicUsize::new(0);
        pool.scope(|scope| {
            for _ in 0..BATCH_SIZE {
                scope.spawn(|_| {
                    executed.fetch_add(1, Ordering::SeqCst);
                });
            }
            let left = BATCH_SIZE - executed.load(Ordering::SeqCst);
            let begin = now_ns();
            while executed.load(Ordering::SeqCst) != BATCH_SIZE {
                std::hint::spin_loop();
            }
            if left > BATCH_SIZE / 10 {
                samples.push((now_ns() - begin) as f64 / left as f64);
            }
        });
    }
    if samples.is_empty() {
        skip("the thieves keep up with the victim: nothing left to measure");
    }
    emit("time", "ns", quantile(&samples, 0.5));
}
