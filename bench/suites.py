"""The suites of `bench/run`: which programs a work starts, with how many threads, and what is printed about it."""

import os
from dataclasses import dataclass

LIBRARIES = ["serial", "weft", "tbb", "openmp", "rayon", "threads"]
USABLE = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Work:
    name: str
    title: str
    libs: tuple = ("serial", "weft", "tbb", "openmp", "rayon")
    threads: tuple = tuple(sorted({1, 2, USABLE}))
    # Where the programs are: bin/<program>_<lib>, or for Rayon `bin/rayon <program>`. By default the work's name.
    programs: tuple = ()
    # (program, suffix of the work): more strategies in the same table, lib `threads`, work `<name>_<suffix>`.
    variants: tuple = ()
    # Metric that is compared with serial code.
    key: str = "time"
    # The last column, where there is serial code: "serial / time" is a speed-up, "time / serial" a price.
    ratio: str = "serial / time"
    # Programs that only wait may run at the same time.
    concurrent: bool = False
    # With --threads, these programs still run with the counts above: the count is the point of the work.
    fixed_threads: bool = False
    note: str = ""


# Everything else is better when it is less.
MORE_IS_BETTER = {"rate", "utilisation"}
# Properties of the measurement or of another column: nobody wins by them.
NEVER_BEST = {"timer", "join"}

FORKING = ("weft", "tbb", "openmp", "rayon")

CORE = [
    Work("fib", "fib(32), quick: fib(30); one fork per call, no cutoff", ratio="time / serial"),
    Work("nqueens", "12 queens; one fork per child, no cutoff"),
    Work("uts", "unbalanced tree, 4.1 million nodes, quick: 1.1 million; one fork per child, no cutoff"),
    Work("matmul", "512 x 512 doubles, quick: 256 x 256; quadrants down to 64 x 64"),
    Work("skew", "20,000 items, quick: 10,000, cost in proportion to the index; halves down to one item"),
    Work("spawn_inside", "1,000,000 empty tasks, quick: 250,000, spawned by a worker; with 2 threads the other steals",
         libs=FORKING,
         note="p50 and p99 of one spawn contain the timer. libgomp runs a task inline when its team has one thread\n"
              "or 64 tasks per thread are queued: its lines are shown, not marked."),
    Work("spawn_outside", "1,000,000 tasks, quick: 250,000, spawned by a thread that is no worker",
         libs=("weft", "tbb", "rayon"),
         note="p50 and p99 of one spawn contain the timer."),
    Work("steal", "a task taken from a busy victim; 2 threads: one thief (quiet), more: contended",
         libs=("weft", "tbb", "rayon"), threads=(2, max(4, USABLE)), fixed_threads=True,
         note="With more threads than cores, thieves also wait for a core."),
    Work("tasks", "10,000 tasks of 100 us, quick: 2,000; sum of durations / (threads x makespan)",
         libs=(*FORKING, "threads"), threads=(USABLE,)),
    Work("wake", "2 ms idle, then one task from outside: time until it starts",
         libs=("weft", "tbb", "rayon", "threads"), threads=(USABLE,),
         note="threads: a new thread for every submission."),
    Work("idle", "a warm pool left alone for 10 s, quick: 2 s; its threads' CPU time and context switches",
         libs=FORKING, threads=(USABLE,), concurrent=True),
    Work("memory", "resident memory per worker: (64 workers - 1 worker) / 63, touched stack included",
         libs=FORKING, threads=(64,), fixed_threads=True),
    Work("imbalance", "parts of 100, 100, 200, 350 ms, quick: a tenth, in jobs of 100 us",
         libs=("serial", *FORKING, "threads"), threads=(USABLE,),
         variants=(("imbalance_central", "central"), ("imbalance_static", "static"), ("imbalance_sharing", "sharing")),
         note="central: one queue under a mutex; static: parts dealt out once; sharing: the busy push to the idle;\n"
              "threads: a thread per job. No strategy can be faster than serial / threads."),
    Work("scaling", "fib and uts, from one thread to twice the cores", libs=("weft", "tbb", "rayon"),
         threads=(*range(1, USABLE + 1), 2 * USABLE), programs=("fib", "uts"), fixed_threads=True),
]

SUITES = {"core": CORE}
