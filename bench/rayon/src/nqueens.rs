use crate::support::{fail, measure_time, pool, Options};
use std::hint::black_box;

#[derive(Clone, Copy)]
struct Board {
    columns_left: u32,
    down_right: u32,
    down_left: u32,
}

impl Board {
    fn empty(n: u32) -> Self {
        Board { columns_left: (1 << n) - 1, down_right: 0, down_left: 0 }
    }

    fn free_squares(self) -> u32 {
        self.columns_left & !(self.down_right | self.down_left)
    }

    fn place(self, square: u32) -> Self {
        Board {
            columns_left: self.columns_left & !square,
            down_right: (self.down_right | square) << 1,
            down_left: (self.down_left | square) >> 1,
        }
    }
}

fn solve(board: Board) -> u64 {
    if board.columns_left == 0 {
        return 1;
    }
    match board.free_squares() {
        0 => 0,
        squares => solve_children(board, squares),
    }
}

fn solve_children(board: Board, squares: u32) -> u64 {
    let first = squares & squares.wrapping_neg();
    let rest = squares & (squares - 1);
    if rest == 0 {
        return solve(board.place(first));
    }
    let (a, b) = rayon::join(|| solve(board.place(first)), || solve_children(board, rest));
    a + b
}

pub fn measure(options: &Options) {
    let pool = pool(options.threads);
    let run = |n: u32, solutions: u64| {
        let board = Board::empty(black_box(n));
        if pool.install(|| solve(board)) != solutions {
            fail("nqueens: wrong result");
        }
    };
    measure_time(options, || run(8, 92), || run(12, 14_200));
}
