//! The same problems as the C++ programs, on Rayon: `rayon <problem> [--threads N] [--quick] [--rounds-per-us X]`.
//! Instances, tree shapes, checks and output are those of `bench/<problem>/config.hpp`.

mod fib;
mod idle;
mod imbalance;
mod matmul;
mod memory;
mod nqueens;
mod skew;
mod spawn_inside;
mod spawn_outside;
mod steal;
mod support;
mod tasks;
mod uts;
mod wake;

fn main() {
    let (problem, options) = support::parse();
    match problem.as_str() {
        "fib" => fib::measure(&options),
        "idle" => idle::measure(&options),
        "imbalance" => imbalance::measure(&options),
        "matmul" => matmul::measure(&options),
        "memory" => memory::measure(&options),
        "memory_child" => memory::child(&options),
        "nqueens" => nqueens::measure(&options),
        "skew" => skew::measure(&options),
        "spawn_inside" => spawn_inside::measure(&options),
        "spawn_outside" => spawn_outside::measure(&options),
        "steal" => steal::measure(&options),
        "tasks" => tasks::measure(&options),
        "uts" => uts::measure(&options),
        "wake" => wake::measure(&options),
        _ => support::fail("unknown problem"),
    }
}
