use crate::support::{run, Laps, Options};

const INSTANCES: usize = 1000;

pub fn measure(options: &Options) {
    let mut laps = Laps::new(options);
    let laps = run(options.threads, async move {
        let mut handles = Vec::with_capacity(INSTANCES);
        while laps.next() {
            handles.extend((0..INSTANCES).map(|_| tokio::spawn(async {})));
            for handle in handles.drain(..) {
                handle.await.unwrap();
            }
        }
        laps
    });
    laps.report(INSTANCES);
}
