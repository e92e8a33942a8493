use crate::support::{fail, measure_time, pool, Options};
use std::cell::RefCell;

const ROW_STRIDE: usize = 512 + 8;
const LEAF_SIZE: usize = 64;

/// Square blocks of three matrices that share the row stride.
#[derive(Clone, Copy)]
struct Product {
    c: *mut f64,
    a: *const f64,
    b: *const f64,
    size: usize,
}

// SAFETY: products that run at the same time write disjoint quadrants of C, and A and B are only read.
unsafe impl Send for Product {}
unsafe impl Sync for Product {}

impl Product {
    fn part(&self, phase: usize, row: usize, column: usize) -> Product {
        let half = self.size / 2;
        let at = |r: usize, k: usize| (r * ROW_STRIDE + k) * half;
        // SAFETY: quadrants lie inside their blocks.
        unsafe {
            Product {
                c: self.c.add(at(row, column)),
                a: self.a.add(at(row, phase)),
                b: self.b.add(at(phase, column)),
                size: half,
            }
        }
    }

    fn multiply_leaf(&self) {
        for i in 0..self.size {
            // SAFETY: row i of the block, which no other task writes now.
            let row_of_c = unsafe { std::slice::from_raw_parts_mut(self.c.add(i * ROW_STRIDE), self.size) };
            for k in 0..self.size {
                // SAFETY: inside A and B, which nobody writes.
                let (factor, row_of_b) = unsafe {
                    (
                        *self.a.add(i * ROW_STRIDE + k),
                        std::slice::from_raw_parts(self.b.add(k * ROW_STRIDE), self.size),
                    )
                };
                for (c, b) in row_of_c.iter_mut().zip(row_of_b) {
                    *c += factor * b;
                }
            }
        }
    }
}

fn multiply(p: &Product) {
    if p.size <= LEAF_SIZE {
        return p.multiply_leaf();
    }
    for phase in 0..2 {
        let row = |r| rayon::join(|| multiply(&p.part(phase, r, 0)), || multiply(&p.part(phase, r, 1)));
        rayon::join(|| row(0), || row(1));
    }
}

fn element(row: usize, column: usize) -> f64 {
    ((row * 7 + column * 13) % 17) as f64 - 8.0
}

fn times(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    (0..x.len()).map(|i| (0..x.len()).map(|j| matrix[i * ROW_STRIDE + j] * x[j]).sum()).collect()
}

pub fn measure(options: &Options) {
    let pool = pool(options.threads);
    let cells = 512 * ROW_STRIDE;
    let a: Vec<f64> = (0..cells).map(|i| element(i / ROW_STRIDE, i % ROW_STRIDE)).collect();
    let b: Vec<f64> = (0..cells).map(|i| element(i % ROW_STRIDE, i / ROW_STRIDE)).collect();
    let c = RefCell::new(vec![0.0; cells]);
    let run = |size| {
        let product = Product { c: c.borrow_mut().as_mut_ptr(), a: a.as_ptr(), b: b.as_ptr(), size };
        pool.install(|| multiply(&product));
    };
    let size = if options.quick { 256 } else { 512 };
    run(size);
    let x: Vec<f64> = (0..size).map(|i| (i % 11) as f64 - 5.0).collect();
    if times(&c.borrow(), &x) != times(&a, &times(&b, &x)) {
        fail("matmul: wrong product");
    }
    measure_time(options, || run(2 * LEAF_SIZE), || run(size));
}
