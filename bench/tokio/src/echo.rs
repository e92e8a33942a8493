use crate::support::{emit, fail, process_cpu, quantile, run, Options};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const CONNECTIONS: usize = 1000;
const MESSAGE_BYTES: usize = 64;

fn allow_many_descriptors() {
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
    }
}

fn connect_pairs() -> std::io::Result<Vec<(TcpStream, TcpStream)>> {
    allow_many_descriptors();
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let mut pairs = Vec::new();
    for _ in 0..CONNECTIONS {
        let client = TcpStream::connect(address)?;
        let (server, _) = listener.accept()?;
        for end in [&client, &server] {
            end.set_nodelay(true)?;
            end.set_nonblocking(true)?;
        }
        pairs.push((client, server));
    }
    Ok(pairs)
}

async fn serve(stream: TcpStream) {
    let mut stream = tokio::net::TcpStream::from_std(stream).unwrap();
    let mut buffer = [0; 2 * MESSAGE_BYTES];
    loop {
        match stream.read(&mut buffer).await {
            Ok(size) if size > 0 => stream.write_all(&buffer[..size]).await.unwrap(),
            _ => return,
        }
    }
}

async fn request(stream: TcpStream, requests: usize) -> Vec<f64> {
    let mut stream = tokio::net::TcpStream::from_std(stream).unwrap();
    let mut buffer = [0; MESSAGE_BYTES];
    let mut round_trips_ms = Vec::with_capacity(requests);
    for _ in 0..requests {
        let begin = Instant::now();
        stream.write_all(&buffer).await.unwrap();
        stream.read_exact(&mut buffer).await.unwrap();
        round_trips_ms.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    round_trips_ms
}

pub fn measure(options: &Options) {
    let requests = if options.quick { 30 } else { 100 };
    let pairs = connect_pairs().unwrap_or_else(|error| fail(&error.to_string()));
    let (round_trips_ms, wall, cpu) = run(options.threads, async move {
        let (begin, cpu_begin) = (Instant::now(), process_cpu());
        let mut clients = Vec::new();
        for (client, server) in pairs {
            tokio::spawn(serve(server));
            clients.push(tokio::spawn(request(client, requests)));
        }
        let mut round_trips_ms = Vec::new();
        for client in clients {
            round_trips_ms.append(&mut client.await.unwrap());
        }
        (round_trips_ms, begin.elapsed(), process_cpu() - cpu_begin)
    });
    let operations = round_trips_ms.len() as f64;
    emit("rate", "K/s", operations / wall.as_secs_f64() / 1e3);
    emit("p50", "ms", quantile(&round_trips_ms, 0.50));
    emit("p99", "ms", quantile(&round_trips_ms, 0.99));
    emit("cpu", "us/op", cpu.as_secs_f64() * 1e6 / operations);
}
