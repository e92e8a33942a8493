use crate::support::{emit, fail, measure_time, pool, Options};
use std::hint::black_box;

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

pub fn measure(options: &Options) {
    let pool = pool(options.threads);
    let run = |n: u32, value: u64| {
        let n = black_box(n);
        if pool.install(|| fib(n)) != value {
            fail("fib: wrong result");
        }
    };
    let (n, value, joins) = if options.quick { (30, 832_040, 1_346_268) } else { (32, 2_178_309, 3_524_577) };
    let ms = measure_time(options, || run(20, 6765), || run(n, value));
    emit("join", "ns", ms * 1e6 / f64::from(joins));
}
