use crate::support::{fail, measure_time, pool_with_stack, Options};
use std::hint::black_box;

struct Tree {
    root: u64,
    root_children: u64,
    nodes: u64,
}

const FULL: Tree = Tree { root: 312, root_children: 2000, nodes: 4_138_017 };
const QUICK: Tree = Tree { root: 66, root_children: 500, nodes: 1_090_997 };
const WARM: Tree = Tree { root: 35, root_children: 30, nodes: 27_943 };

#[inline]
fn digest(x: u64) -> u64 {
    let mut lanes = [0u64; 6];
    for (index, lane) in lanes.iter_mut().enumerate() {
        *lane = x.wrapping_add((index as u64).wrapping_mul(0x9e3779b97f4a7c15));
    }
    for _ in 0..8 {
        for lane in lanes.iter_mut() {
            *lane = (*lane ^ (*lane >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
            *lane = (*lane ^ (*lane >> 27)).wrapping_mul(0x94d049bb133111eb);
            *lane ^= *lane >> 31;
        }
    }
    let sum = lanes.iter().fold(0u64, |sum, lane| sum.wrapping_add(*lane));
    sum ^ (sum >> 29)
}

fn child(parent: u64, index: u64) -> u64 {
    parent.wrapping_add(index + 1)
}

fn visit(id: u64) -> u64 {
    let node = digest(id);
    if node < 0x1ff7ced916872b00 {
        1 + visit_children(node, 0, 8)
    } else {
        1
    }
}

fn visit_children(parent: u64, first: u64, count: u64) -> u64 {
    if first + 1 == count {
        return visit(child(parent, first));
    }
    let (a, b) = rayon::join(|| visit(child(parent, first)), || visit_children(parent, first + 1, count));
    a + b
}

pub fn measure(options: &Options) {
    let pool = pool_with_stack(options.threads, 64 << 20);
    let run = |tree: &Tree| {
        let root = digest(black_box(tree.root));
        if 1 + pool.install(|| visit_children(root, 0, tree.root_children)) != tree.nodes {
            fail("uts: wrong number of nodes");
        }
    };
    let tree = if options.quick { &QUICK } else { &FULL };
    measure_time(options, || run(&WARM), || run(tree));
}
