//! Options, clocks, statistics and output: the counterpart of `bench/support`.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

pub struct Options {
    pub threads: usize,
    pub quick: bool,
    pub rounds_per_us: f64,
}

pub fn fail(what: &str) -> ! {
    eprintln!("bench: {what}");
    std::process::exit(1)
}

/// Says "not possible here" by the exit code the driver knows.
pub fn skip(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(77)
}

pub fn parse() -> (String, Options) {
    const USAGE: &str = "usage: <problem> [--threads N] [--quick] [--rounds-per-us X]";
    let mut arguments = std::env::args().skip(1);
    let problem = arguments.next().unwrap_or_else(|| fail(USAGE));
    let mut options = Options { threads: 1, quick: false, rounds_per_us: 400.0 };
    while let Some(flag) = arguments.next() {
        match flag.as_str() {
            "--quick" => options.quick = true,
            "--threads" => options.threads = number(arguments.next()),
            "--rounds-per-us" => options.rounds_per_us = number(arguments.next()),
            _ => fail(USAGE),
        }
    }
    (problem, options)
}

fn number<T: std::str::FromStr>(text: Option<String>) -> T {
    text.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| fail("a number is missing"))
}

pub fn pool(threads: usize) -> rayon::ThreadPool {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    builder.build().unwrap_or_else(|error| fail(&error.to_string()))
}

pub fn pool_with_stack(threads: usize, bytes: usize) -> rayon::ThreadPool {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(bytes);
    builder.build().unwrap_or_else(|error| fail(&error.to_string()))
}

pub fn emit_all(metric: &str, unit: &str, samples: &[f64]) {
    let list: Vec<String> = samples.iter().map(|sample| format!("{sample:.6}")).collect();
    println!("{{\"metric\":\"{metric}\",\"unit\":\"{unit}\",\"samples\":[{}]}}", list.join(","));
}

pub fn emit(metric: &str, unit: &str, value: f64) {
    emit_all(metric, unit, &[value]);
}

/// Nearest rank.
pub fn quantile(values: &[f64], fraction: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * fraction).round() as usize]
}

/// Warm-up for 30 ms, then at least one and at most 25 samples in 60 ms (quick) or 200 ms; emits `time`.
pub fn measure_time(options: &Options, mut warm: impl FnMut(), mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(30) {
        warm();
    }
    let budget = Duration::from_millis(if options.quick { 60 } else { 200 });
    let mut samples_ms = Vec::new();
    let begin = Instant::now();
    while samples_ms.is_empty() || (begin.elapsed() < budget && samples_ms.len() < 25) {
        let started = Instant::now();
        run();
        samples_ms.push(started.elapsed().as_secs_f64() * 1e3);
    }
    emit_all("time", "ms", &samples_ms);
    quantile(&samples_ms, 0.5)
}

/// The same chain of xorshift steps as `bench::spin`.
#[inline]
pub fn spin(rounds: u64, seed: u64) -> u64 {
    let mut x = seed;
    for _ in 0..rounds {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

pub fn rounds_for_us(options: &Options, us: f64) -> u64 {
    (options.rounds_per_us * us) as u64
}

pub fn spin_rounds(rounds: u64) {
    black_box(spin(black_box(rounds), 88172645463325252));
}

pub fn clock_ns(clock: libc::clockid_t) -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for the result.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

pub fn now_ns() -> i64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

#[inline(always)]
fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let mut processor = 0;
        // SAFETY: every x86-64 processor this runs on has rdtscp; it only writes `processor`.
        unsafe { core::arch::x86_64::__rdtscp(&mut processor) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        now_ns() as u64
    }
}

/// Times each of `count` calls; `emit_quantiles` prints `p50`, `p99` and `timer`.
pub fn time_each(count: usize, mut call: impl FnMut()) -> Vec<u64> {
    let mut elapsed = vec![0; count];
    for slot in elapsed.iter_mut() {
        let begin = ticks();
        call();
        *slot = ticks() - begin;
    }
    elapsed
}

pub fn emit_quantiles(elapsed: &[u64]) {
    let (begin_ns, begin) = (now_ns(), ticks());
    while now_ns() - begin_ns < 20_000_000 {}
    let ns_per_tick = (now_ns() - begin_ns) as f64 / (ticks() - begin) as f64;
    let to_ns = |list: &[u64]| list.iter().map(|&t| t as f64 * ns_per_tick).collect::<Vec<f64>>();
    let ns = to_ns(elapsed);
    emit("p50", "ns", quantile(&ns, 0.50));
    emit("p99", "ns", quantile(&ns, 0.99));
    emit("timer", "ns", quantile(&to_ns(&time_each(1001, || {})), 0.5));
}

/// A counter; the last task signals the thread that waits outside the pool.
pub struct Countdown {
    left: AtomicUsize,
    done: Mutex<bool>,
    changed: Condvar,
}

impl Countdown {
    pub fn new(count: usize) -> Self {
        Countdown { left: AtomicUsize::new(count), done: Mutex::new(false), changed: Condvar::new() }
    }

    pub fn arrive(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            *self.done.lock().unwrap() = true;
            self.changed.notify_one();
        }
    }

    pub fn wait(&self) {
        let mut done = self.done.lock().unwrap();
        while !*done {
            done = self.changed.wait(done).unwrap();
        }
    }
}

/// Runs a task on every thread of the pool at once, so that all of them have started.
pub fn rendezvous(pool: &rayon::ThreadPool, threads: usize) {
    let arrived = AtomicUsize::new(0);
    pool.scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|_| {
                arrived.fetch_add(1, Ordering::SeqCst);
                let begin = Instant::now();
                while arrived.load(Ordering::SeqCst) < threads && begin.elapsed() < Duration::from_secs(2) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
    });
}
