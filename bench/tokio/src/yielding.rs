use crate::support::{run, Laps, Options};

const YIELDS: usize = 10_000;

pub fn measure(options: &Options) {
    let mut laps = Laps::new(options);
    let laps = run(options.threads, async move {
        while laps.next() {
            for _ in 0..YIELDS {
                tokio::task::yield_now().await;
            }
        }
        laps
    });
    laps.report(YIELDS);
}
