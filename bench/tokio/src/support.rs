//! Options, clocks, statistics and output: the counterpart of `bench/support`.

use std::future::Future;
use std::hint::black_box;
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
pub struct Options {
    pub threads: usize,
    pub quick: bool,
    pub rounds_per_us: f64,
}

pub fn fail(what: &str) -> ! {
    eprintln!("bench: {what}");
    std::process::exit(1)
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

/// Runs the future on a worker: the thread that calls `block_on` is none, and would be woken for every step.
pub fn run<T: Send + 'static>(threads: usize, work: impl Future<Output = T> + Send + 'static) -> T {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(threads).enable_all().build().unwrap();
    runtime.block_on(async { tokio::spawn(work).await.unwrap() })
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

/// Times the turns of a loop, `while laps.next() { ... }`: warms up for 30 ms, then counts for 60 ms (quick) or 120 ms.
pub struct Laps {
    measured: Duration,
    begin: Instant,
    lap_begin: Option<Instant>,
    samples_ns: Vec<f64>,
}

impl Laps {
    const WARM: Duration = Duration::from_millis(30);

    pub fn new(options: &Options) -> Laps {
        let measured = Duration::from_millis(if options.quick { 60 } else { 120 });
        Laps { measured, begin: Instant::now(), lap_begin: None, samples_ns: Vec::new() }
    }

    pub fn next(&mut self) -> bool {
        let now = Instant::now();
        if let Some(lap_begin) = self.lap_begin {
            if lap_begin - self.begin >= Self::WARM {
                self.samples_ns.push((now - lap_begin).as_nanos() as f64);
            }
        }
        let enough = self.samples_ns.len() >= 3 && now - self.begin >= Self::WARM + self.measured;
        self.lap_begin = Some(Instant::now());
        !enough
    }

    /// What one of the `parts` of a turn takes.
    pub fn report(&self, parts: usize) {
        let samples: Vec<f64> = self.samples_ns.iter().map(|ns| ns / parts as f64).collect();
        emit_all("time", "ns", &samples);
    }
}

/// The chain of xorshift steps of `bench::spin`.
pub fn spin_rounds(rounds: u64) {
    let mut x: u64 = black_box(88172645463325252);
    for _ in 0..rounds {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    black_box(x);
}

pub fn rounds_for_us(options: &Options, us: f64) -> u64 {
    (options.rounds_per_us * us) as u64
}

pub fn process_cpu() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

pub fn resident_kb() -> f64 {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = rollup.lines().find(|line| line.starts_with("Rss:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).unwrap_or(0.0)
}
