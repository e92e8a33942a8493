use crate::support::{fail, run, Laps, Options};
use tokio::sync::mpsc::channel;

const MESSAGES: i32 = 10_000;

pub fn measure(options: &Options) {
    let mut laps = Laps::new(options);
    let laps = run(options.threads, async move {
        let (there, mut arriving) = channel(1);
        let (back, mut returning) = channel(1);
        let pong = tokio::spawn(async move {
            while let Some(got) = arriving.recv().await {
                let _ = back.send(got + 1).await;
            }
        });
        while laps.next() {
            for i in (0..MESSAGES).step_by(2) {
                let _ = there.send(i).await;
                if returning.recv().await != Some(i + 1) {
                    fail("hybrid_hop: wrong message");
                }
            }
        }
        drop(there);
        pong.await.unwrap();
        laps
    });
    laps.report(MESSAGES as usize);
}
