"""The suites of `bench/run`: which programs a work starts, with how many threads, and what is printed about it."""

import os
from dataclasses import dataclass

LIBRARIES = ["serial", "weft", "tbb", "stdpar", "openmp", "gnu", "rayon", "threads",
             "bare", "parallel", "xargs", "make", "ninja", "ctest", "asio", "tokio", "go", "epoll", "uring", "floor"]
# One program each for all problems, with the problem as its first argument.
ONE_PROGRAM = {"rayon", "tokio", "go"}
USABLE = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Work:
    name: str
    title: str
    libs: tuple = ("serial", "weft", "tbb", "openmp", "rayon")
    threads: tuple = tuple(sorted({1, 2, USABLE}))
    # Where the programs are: bin/<program>_<lib>, or for Rayon and others `bin/rayon <program>`. By default the work's
    # name.
    # Several programs share one table, a column each. A program `<name>.py` is in bench/ and measures programs that
    # exist; its first argument is the library.
    program: str = ""
    programs: tuple = ()
    # Which instance of its problem the program is to run, where it has several.
    instance: str = ""
    # Several instances share one table, a line each, as works `<name>_<instance>`.
    instances: tuple = ()
    # (program, lib, suffix of the work): more strategies in the same table, as works `<name>_<suffix>`.
    variants: tuple = ()
    # Metric that is compared with the reference.
    key: str = "time"
    # The line that the others are compared with, by its library or instance.
    reference: str = "serial"
    # The last column, where there is that line: "serial / time" is a speed-up; one that begins with `key`, such
    # as "time / serial", a price.
    ratio: str = "serial / time"
    # Programs that only wait may run at the same time.
    concurrent: bool = False
    # With --threads, these programs still run with the counts above: the count is the point of the work.
    fixed_threads: bool = False
    # At most so many repetitions, for works that take long and vary little. 0: as many as asked for.
    repetitions_max: int = 0
    repetitions_quick: int = 0
    note: str = ""


# Everything else is better when it is less.
MORE_IS_BETTER = {"rate", "utilisation", "share", "served"}
# Properties of the measurement or of another column: nobody wins by them.
NEVER_BEST = {"timer", "join", "workers", "bound"}

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
         variants=tuple((f"imbalance_{strategy}", "threads", strategy) for strategy in ("central", "static", "sharing")),
         note="central: one queue under a mutex; static: parts dealt out once; sharing: the busy push to the idle;\n"
              "threads: a thread per job. No strategy can be faster than serial / threads."),
    Work("scaling", "fib and uts, from one thread to twice the cores", libs=("weft", "tbb", "rayon"),
         threads=(*range(1, USABLE + 1), 2 * USABLE), programs=("fib", "uts"), fixed_threads=True),
]


def algorithm(name, title, libs, program, instance="", **more):
    """A work of the suite `parallel`: the program is in parallel/<program>; 4 threads are more than cores."""
    return Work(name, title, libs=("serial", "weft", *libs), threads=(1, 2, 4), program=f"parallel_{program}",
                instance=instance, **more)


LOOPS = ("tbb", "stdpar", "openmp")
FOLDS = ("tbb", "stdpar", "openmp", "gnu")
SORTS = ("tbb", "stdpar", "gnu")
OUTSIDE = ("time: called inside the pool or arena; outside: by the main thread, for weft on pool::global(), for\n"
           "tbb in an arena of at most as many threads as cores. For openmp there is no difference.")

PARALLEL = [
    algorithm("loop10^8", "y = 2 x + b over 10^8 floats, quick: 10^7", LOOPS, "loop", "10^8"),
    algorithm("loop10^5", "the same over 10^5 floats, one call of many back to back", LOOPS, "loop", "10^5"),
    algorithm("loop10^3", "the same over 1,000 floats", LOOPS, "loop", "10^3", note=OUTSIDE),
    algorithm("loop100", "the same over 100 floats", ("tbb", "openmp"), "loop", "100", note=OUTSIDE),
    algorithm("loop10", "the same over 10 floats", ("tbb", "openmp"), "loop", "10", note=OUTSIDE),
    algorithm("skew", "20,000 items, quick: 10,000, cost in proportion to the index; a plain loop", LOOPS, "skew"),
    algorithm("reduce10^8", "sum of 10^8 32 bit integers, quick: 10^7", FOLDS, "reduce", "10^8"),
    algorithm("reduce10^5", "sum of 10^5 32 bit integers, one call of many back to back", FOLDS, "reduce", "10^5"),
    algorithm("scan10^8", "prefix sums of 10^8 32 bit integers, quick: 10^7", FOLDS, "scan"),
    algorithm("find_hit10", "first match in 10^8 integers, quick: 10^7, a tenth of the way in", ("stdpar", "gnu"),
              "find", "hit10"),
    algorithm("find_none", "the same without a match", ("stdpar", "gnu"), "find", "none"),
    algorithm("sort_random10^7", "10^7 random integers, quick: 10^6", SORTS, "sort", "random10^7"),
    algorithm("sort_sorted10^7", "10^7 sorted integers, quick: 10^6", SORTS, "sort", "sorted10^7"),
    algorithm("sort_few10^7", "10^7 integers of 16 values, quick: 10^6", SORTS, "sort", "few10^7"),
    algorithm("sort_random10^5", "10^5 random integers", SORTS, "sort", "random10^5"),
    algorithm("sort_strings10^6", "10^6 random strings of 4 to 27 letters, quick: 10^5", SORTS, "sort", "strings10^6"),
    algorithm("stable_sort_random10^7", "10^7 random integers, quick: 10^6, keeping the order of equal ones",
              ("stdpar", "gnu"), "stable_sort", "random10^7"),
    algorithm("nested", "a loop over 1,000 rows, quick: 100, each a loop over 1,000 floats", LOOPS, "nested",
              note="openmp: an inner parallel loop runs with one thread, as is its default."),
]



def mapped(instance):
    """A work of the suite `executor`: items of that cost, so many, through an ordered map."""
    item, count = instance.split(",")
    return Work(f"map_{item}_{count}", f"an ordered map over {count} items of {item}", program="executor_map",
                libs=("serial", "weft", "tbb", "threads"), variants=(("executor_map_async", "threads", "async"),),
                threads=(USABLE,), instance=instance,
                note="threads: a queue under a mutex, packaged tasks and futures; async: std::async, a thread per item;\n"
                     "everybody reads 16 items a thread ahead. From 1,000 items on, quick has a tenth.")


def reached(instance, title):
    return Work(f"reach_{instance}", title, program="executor_reach", libs=("weft",), threads=(USABLE,),
                instance=instance, key="reach", repetitions_max=3, note=REACH)


REACH = ("reach: until a second gets 95 % of what the best of the fixed sizes 1, 2, 4, 12, 20, 32 does done; share: of\n"
         "that, from the tenth second to the twentieth; workers: at the end.")
EXECUTOR = [mapped(i) for i in ("1us,10^2", "1us,10^4", "1us,10^6", "10us,10^2", "10us,10^5", "1ms,10^2", "1ms,10^3")] + [
    reached("cpu", "items of 10 ms of computing"),
    reached("wait", "items of 10 ms of computing and 90 ms of waiting"),
    reached("memory", "items that read 8 MB"),
]

BATCH = [
    Work("skewed", "40 commands that sleep, 13.5 s in all, quick: a fifth; the longest, 2.5 s, is listed last",
         libs=("weft", "ctest", "ninja", "make", "xargs", "parallel"), threads=(2, 8), program="batch.py",
         instance="skewed", repetitions_max=3, repetitions_quick=2,
         note="bound: max(longest, sum / workers); gap: time / bound. cold: the first run; warm: the second, where a runner\n"
              "remembers the first; hinted: the first run of a plan that says what each command takes."),
    Work("source_batches", "384 rules in 9 batches that sleep 12 ms in the median; the mean of 20 seeds, quick: 3",
         libs=("weft",), threads=(8,), fixed_threads=True, program="batch_source_batches", concurrent=True,
         instances=("fifo", "fifo_table", "largest_first", "stealing", "critical_path"), reference="fifo",
         ratio="time / fifo", repetitions_max=3, repetitions_quick=2,
         note="The first four end a batch before the next begins; fifo_table and stealing with fewer workers for small\n"
              "batches. critical_path only waits for dependencies. gap: time / max(critical path, work / workers)."),
    Work("true", "/bin/true 10,000 times, quick: 1,000; milliseconds a command",
         libs=("bare", "threads", "weft", "ninja", "make", "xargs", "ctest", "parallel"), threads=(2,), program="batch.py",
         instance="true", reference="bare", ratio="time / bare", repetitions_max=5, repetitions_quick=2,
         note="bare: posix_spawn, a pipe, wait4 and nothing else, from one thread; threads: the same from two. weft, ctest,\n"
              "ninja and parallel catch output, too; make and xargs do not. ctest and parallel run 1,000, quick: 200."),
    Work("inprocess", "100,000 rules without a body, quick: 10,000; makespan / rules, without and with an event log",
         libs=("weft",), threads=(1, 2), program="batch_inprocess"),
    Work("plan", "100,000 rules, quick: 10,000, each after one other: made and checked",
         libs=("weft",), threads=(1,), fixed_threads=True, program="batch_plan"),
    Work("profiling", "10,000 rules of 1 ms of computing, quick: 2,000; without and with profiles and event log",
         libs=("weft",), threads=(2,), program="batch_profiling", repetitions_max=3, repetitions_quick=2),
]



def hybrid(name, title, libs, key="time", reference="asio", **more):
    """A work of the suite `hybrid`: the program is in hybrid/<name>; the last column is a ratio of `key`."""
    return Work(name, title, libs=libs, program=f"hybrid_{name}", key=key, reference=reference,
                ratio=f"{key} / {reference}", **{"threads": (2,), **more})


HYBRID = [
    hybrid("mix", "echo, 6,400 requests/s on 32 connections, while 64 tasks of 1 ms are always in flight; 4 s, quick: 1 s",
           libs=(), key="p99", reference="asio_nice", repetitions_max=5, repetitions_quick=3,
           variants=tuple((f"hybrid_mix_{setup}", lib, f"{lib}_{setup}")
                          for lib, setups in (("weft", ("normal", "low")),
                                              ("asio", ("separate", "idle", "nice", "shared")),
                                              ("tokio", ("separate", "nice"))) for setup in setups),
           note="weft: its two classes; separate: a thread for I/O and a pool of 2, for tokio Rayon's; idle, nice: the pool's\n"
                "threads in SCHED_IDLE, with niceness 19; shared: one context for all. p50, p99: from sending to the\n"
                "reply; due_p99: from when the request was due; served: of those offered; rate: of the tasks that compute."),
    hybrid("spawn_join", "1,000 empty instances started and joined from inside; per instance",
           libs=("weft", "asio", "tokio", "go", "tbb"),
           note="tbb: tasks of a task_group; asio: co_spawn and a count; go: a WaitGroup."),
    hybrid("yield", "a coroutine yields, alone on one worker", libs=("weft", "asio", "tokio", "go", "floor"), threads=(1,),
           fixed_threads=True, note="floor: a coroutine in a std::deque, no library."),
    hybrid("hop", "two coroutines pass a number to and fro through channels, on a pool of 2; per message",
           libs=("weft", "asio", "tokio", "go"), fixed_threads=True,
           note="A library may keep both on one worker, and is quick when it does."),
    hybrid("echo", "1,000 connections x 100 requests of 64 bytes, quick: 30; both ends in one process",
           libs=("asio", "tokio", "go", "epoll", "uring"), key="rate", reference="epoll",
           variants=tuple((f"hybrid_echo_{sockets}", "weft", f"weft_{sockets}") for sockets in ("epoll", "uring", "asio")),
           note="weft: its own sockets on both engines, and Asio's. epoll, uring: coroutines straight on them, a loop for\n"
                "each thread. asio: a context for each thread."),
    hybrid("timers", "100,000 coroutines sleep for 10 ms", libs=("weft", "asio", "tokio", "go"),
           note="late: when a coroutine goes on, after the 10 ms. asio: a context for each thread."),
    hybrid("injector", "a task from outside while tasks of 100 us on every worker respawn themselves, 1,000 probes, quick: 300",
           libs=("weft", "asio", "tbb"), key="p99",
           note="beyond_task: p99 without the one task that has to end first. 250,000: had not started by then; after four\n"
                "of these a process gives up."),
    hybrid("suspended", "1,000,000 coroutines wait for one event, quick: 200,000", key="memory", reference="floor",
           libs=("weft", "asio", "tokio", "go", "floor"), repetitions_max=3,
           note="memory: resident, for each; wake: from the event until the last has ended. floor: one thread, a list."),
    hybrid("busy", "1,000 instances of 1 ms of computing, quick: 200; CPU time / (threads x wall time)", reference="tbb",
           libs=("weft", "asio", "tokio", "go", "tbb"),
           note="A library that searches for work in a loop counts as busy: see time, too. Go's compiler is another:\n"
                "its time is not comparable."),
]



def joined(instance):
    """A work of the suite `flow`: so many instances of that kind, started and joined in several ways."""
    kind, count = instance.split(",")
    return Work(f"{kind}_{count}", f"{count} instances, each a {kind} that does nothing, on the cores; per instance",
                libs=(), threads=(1, 2), instance=instance, reference="spawn", ratio="time / spawn",
                variants=tuple((f"flow_instances_{way}", "weft", way) for way in ("spawn", "each", "group", "limited")),
                note="spawn: hybrid_scheduler::spawn_cpu and a future for each; each: without options; group: an\n"
                     "instance_group; limited: each() with max_running = 8.")


FLOW = [joined(i) for i in ("function,10^3", "function,10^5", "coroutine,10^3", "coroutine,10^5")]


def traced(instance):
    """A work of the suite `trace`: tasks of that length without a trace, with one that is off, and with one that is on."""
    return Work(f"tasks_{instance}", f"10,000 tasks of {instance} spawned by a job of the pool, and joined; per task",
                libs=(), threads=(1, 2), instance=instance, reference="absent", ratio="time / absent",
                variants=tuple((f"trace_tasks_{way}", "weft", way) for way in ("absent", "off", "on")))


TRACE = [traced(i) for i in ("1us", "10us")]

SUITES = {"core": CORE, "parallel": PARALLEL, "executor": EXECUTOR, "batch": BATCH, "hybrid": HYBRID, "flow": FLOW,
          "trace": TRACE}
# Without --quick and --repetitions.
REPETITIONS = {"core": 7, "parallel": 9, "executor": 7, "batch": 5, "hybrid": 7, "flow": 7, "trace": 9}
