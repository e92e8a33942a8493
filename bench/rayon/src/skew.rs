use crate::support::{fail, measure_time, pool, spin, Options};
use std::hint::black_box;

fn sum(first: u64, last: u64) -> u64 {
    if last - first == 1 {
        return spin(first / 4, first + 1);
    }
    let middle = first + (last - first) / 2;
    let (a, b) = rayon::join(|| sum(first, middle), || sum(middle, last));
    a.wrapping_add(b)
}

pub fn measure(options: &Options) {
    let pool = pool(options.threads);
    let run = |items: u64, checksum: u64| {
        let items = black_box(items);
        if pool.install(|| sum(0, items)) != checksum {
            fail("skew: wrong checksum");
        }
    };
    let (items, checksum) =
        if options.quick { (10_000, 0x1a918eeda1c07125) } else { (20_000, 0x5b14d06a2d1066a2) };
    measure_time(options, || run(1_000, 0x886160722a203456), || run(items, checksum));
}
