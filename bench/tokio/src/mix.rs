use crate::support::{emit, fail, quantile, rounds_for_us, spin_rounds, Options};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const CONNECTIONS: u32 = 32;
const PERIOD: Duration = Duration::from_millis(5);
const MESSAGE_BYTES: usize = 64;
const CPU_TASKS: usize = 64;

/// The program `echo_server` beside this one; it ends when its input does.
fn start_server() -> (Child, u16) {
    let program = std::env::current_exe().unwrap().with_file_name("echo_server");
    let started = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut server = started.unwrap_or_else(|error| fail(&error.to_string()));
    let mut port = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
    (server, port.trim().parse().unwrap_or_else(|_| fail("echo_server did not start")))
}

#[derive(Clone, Copy)]
struct Schedule {
    begin: Instant,
    measured_from: Instant,
    end: Instant,
}

/// (round trip, since due) in us of every request.
async fn send_requests(port: u16, when: Schedule, index: u32) -> std::io::Result<Vec<(f64, f64)>> {
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    let mut message = [0; MESSAGE_BYTES];
    let mut journal = Vec::new();
    let mut due = when.begin + PERIOD * index / CONNECTIONS;
    while due < when.end {
        tokio::time::sleep_until(due.into()).await;
        let sent = Instant::now();
        if sent >= when.end {
            break;
        }
        stream.write_all(&message).await?;
        stream.read_exact(&mut message).await?;
        if sent >= when.measured_from {
            journal.push((sent.elapsed().as_secs_f64() * 1e6, due.elapsed().as_secs_f64() * 1e6));
        }
        due += PERIOD;
    }
    Ok(journal)
}

struct Load {
    rounds: u64,
    finished: AtomicUsize,
    stopping: AtomicBool,
}

fn spawn_cpu(load: Arc<Load>) {
    rayon::spawn(move || {
        spin_rounds(load.rounds);
        load.finished.fetch_add(1, SeqCst);
        if !load.stopping.load(SeqCst) {
            spawn_cpu(load);
        }
    });
}

/// One thread for Tokio, `options.threads` for Rayon, each of which calls `prepare` first.
pub fn measure(options: &Options, prepare: fn()) {
    let (mut server, port) = start_server();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads);
    pool.start_handler(move |_| prepare()).build_global().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let length = Duration::from_millis(if options.quick { 1000 } else { 4000 });
    let begin = Instant::now() + Duration::from_millis(50);
    let measured_from = begin + Duration::from_millis(200);
    let when = Schedule { begin, measured_from, end: measured_from + length };
    let clients: Vec<_> = (0..CONNECTIONS).map(|i| runtime.spawn(send_requests(port, when, i))).collect();
    let rounds = rounds_for_us(options, 1000.0);
    let load = Arc::new(Load { rounds, finished: AtomicUsize::new(0), stopping: AtomicBool::new(false) });
    for _ in 0..CPU_TASKS {
        spawn_cpu(load.clone());
    }
    std::thread::sleep(when.measured_from - Instant::now());
    let (from, before) = (Instant::now(), load.finished.load(SeqCst));
    std::thread::sleep(when.end - Instant::now());
    let rate = (load.finished.load(SeqCst) - before) as f64 / from.elapsed().as_secs_f64();
    load.stopping.store(true, SeqCst);
    let mut journal = Vec::new();
    for client in clients {
        journal.append(&mut runtime.block_on(client).unwrap().unwrap_or_else(|error| fail(&error.to_string())));
    }
    drop(server.stdin.take());
    let _ = server.wait();
    let (round_trips, since_due): (Vec<f64>, Vec<f64>) = journal.into_iter().unzip();
    let offered = CONNECTIONS as f64 * length.as_secs_f64() / PERIOD.as_secs_f64();
    emit("p50", "us", quantile(&round_trips, 0.50));
    emit("p99", "us", quantile(&round_trips, 0.99));
    emit("due_p99", "us", quantile(&since_due, 0.99));
    emit("served", "%", 100.0 * since_due.len() as f64 / offered);
    emit("rate", "tasks/s", rate);
}

pub fn be_nice() {
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as libc::id_t, 19) } != 0 {
        fail("niceness 19 is not allowed");
    }
}
