//! The problems of the suite `hybrid` on Tokio: `tokio hybrid_<problem> [--threads N] [--quick] [--rounds-per-us X]`.
//! Instances, shapes and output are those of `bench/hybrid/<problem>/config.hpp`.

mod busy;
mod echo;
mod hop;
mod mix;
mod spawn_join;
mod support;
mod suspended;
mod timers;
mod yielding;

fn main() {
    let (problem, options) = support::parse();
    match problem.as_str() {
        "hybrid_busy" => busy::measure(&options),
        "hybrid_echo" => echo::measure(&options),
        "hybrid_hop" => hop::measure(&options),
        "hybrid_mix_nice" => mix::measure(&options, mix::be_nice),
        "hybrid_mix_separate" => mix::measure(&options, || ()),
        "hybrid_spawn_join" => spawn_join::measure(&options),
        "hybrid_suspended" => suspended::measure(&options),
        "hybrid_timers" => timers::measure(&options),
        "hybrid_yield" => yielding::measure(&options),
        _ => support::fail("unknown problem"),
    }
}
