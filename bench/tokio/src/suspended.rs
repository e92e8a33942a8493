use crate::support::{emit, resident_kb, run, Options};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;

#[derive(Default)]
struct Event {
    happened: Notify,
    last_ended: Notify,
    waiting: AtomicUsize,
    left: AtomicUsize,
}

async fn wait_for(event: Arc<Event>) {
    let happened = event.happened.notified(); // Woken by what comes after this, even before the first poll.
    event.waiting.fetch_add(1, SeqCst);
    happened.await;
    if event.left.fetch_sub(1, SeqCst) == 1 {
        event.last_ended.notify_one();
    }
}

pub fn measure(options: &Options) {
    let tasks = if options.quick { 200_000 } else { 1_000_000 };
    run(options.threads, async move {
        let event = Arc::new(Event::default());
        event.left.store(tasks, SeqCst);
        let before_kb = resident_kb();
        for _ in 0..tasks {
            tokio::spawn(wait_for(event.clone()));
            tokio::task::yield_now().await;
        }
        while event.waiting.load(SeqCst) < tasks {
            tokio::task::yield_now().await;
        }
        let grown_kb = resident_kb() - before_kb;
        let begin = Instant::now();
        event.happened.notify_waiters();
        event.last_ended.notified().await;
        emit("memory", "B", grown_kb * 1024.0 / tasks as f64);
        emit("wake", "ms", begin.elapsed().as_secs_f64() * 1e3);
    });
}
