use crate::support::{emit, now_ns, pool, quantile, Options};
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::sleep;
use std::time::Duration;

static STARTED: AtomicI64 = AtomicI64::new(0);

pub fn measure(options: &Options) {
    const WARM_UP: usize = 10;
    let pool = pool(options.threads);
    let samples = if options.quick { 150 } else { 300 };
    let mut waits_us = Vec::new();
    for i in 0..WARM_UP + samples {
        STARTED.store(0, Ordering::SeqCst);
        sleep(Duration::from_millis(2));
        let submitted = now_ns();
        pool.spawn(|| STARTED.store(now_ns(), Ordering::SeqCst));
        loop {
            sleep(Duration::from_micros(300));
            if STARTED.load(Ordering::SeqCst) != 0 {
                break;
            }
        }
        if i >= WARM_UP {
            waits_us.push((STARTED.load(Ordering::SeqCst) - submitted) as f64 / 1e3);
        }
    }
    emit("p50", "us", quantile(&waits_us, 0.50));
    emit("p99", "us", quantile(&waits_us, 0.99));
}
