#!/usr/bin/env python3
"""Runs a list of commands under one runner, Weft or a peer, and prints how long that took.

One of the programs that bench/run starts: it takes the same options and prints the same lines. Every runner gets the
same commands in the same order and as many slots; the time is that of the whole program, its output goes nowhere.
"""

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

EXIT_SKIPPED = 77
LONGEST_S, OTHERS_S, OTHERS = 2.5, 11.0, 39
# Runners that take so long for each command that a thousand say it all.
SLOW = ("ctest", "parallel")


@dataclass(frozen=True)
class Job:
    program: str
    argument: str = ""
    cost: float = 0.0  # A hint, in seconds; 0: none.

    def words(self):
        return [self.program] + ([self.argument] if self.argument else [])

    def line(self):
        return " ".join(self.words())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runner", choices=RUNNERS)
    parser.add_argument("--instance", choices=WORKS, required=True)
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds-per-us", help="is of no use here")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as directory:
        place = Path(directory)
        # Whatever a runner keeps in the home directory is neither found nor left there.
        os.environ["HOME"] = os.environ["PARALLEL_HOME"] = directory
        WORKS[arguments.instance](arguments, place)


def skewed(arguments, place):
    """Commands that sleep, the longest last, against the lower bound max(longest, sum / slots)."""
    draw = random.Random(1)
    lengths = [draw.lognormvariate(0, 1) for _ in range(OTHERS)]
    scale = 0.2 if arguments.quick else 1.0
    lengths = [scale * length * OTHERS_S / sum(lengths) for length in lengths] + [scale * LONGEST_S]
    bound = max(max(lengths), sum(lengths) / arguments.threads)

    def measure(metric, directory, hinted=False):
        jobs = [Job("/bin/sleep", f"{length:.6f}", length if hinted else 0) for length in lengths]
        seconds = run_once(arguments, jobs, directory)
        emit(metric, "s", seconds)
        emit(f"{metric}_gap", "x", seconds / bound)

    measure("cold", place / "first")
    if arguments.runner in ("ctest", "weft"):  # They remember what the first run took.
        measure("warm", place / "first")
    if arguments.runner == "weft":
        measure("hinted", place / "second", hinted=True)
    emit("bound", "s", bound)


def true(arguments, place):
    """Commands that do nothing: what it costs to start one, catch its output and wait for it."""
    slow = arguments.runner in SLOW
    count = (200 if slow else 1000) if arguments.quick else (1000 if slow else 10_000)
    before = children_cpu_seconds()
    seconds = run_once(arguments, [Job("/bin/true")] * count, place / "first")
    emit("time", "ms", seconds * 1000 / count)
    # Of the runner and its commands: steadier where others use the machine, too.
    emit("cpu", "ms", (children_cpu_seconds() - before) * 1000 / count)


WORKS = {"skewed": skewed, "true": true}


def run_once(arguments, jobs, directory):
    """Writes what the runner reads and runs it there; the seconds from its start to its end."""
    directory.mkdir(exist_ok=True)
    command = RUNNERS[arguments.runner](jobs, directory, arguments)
    if shutil.which(command[0]) is None:
        print(f"{command[0]} is not there", file=sys.stderr)
        sys.exit(EXIT_SKIPPED)
    lines = directory / "lines"
    with open(lines if lines.exists() else os.devnull, "rb") as given:
        begin = time.monotonic()
        result = subprocess.run(command, cwd=directory, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        seconds = time.monotonic() - begin
    if result.returncode != 0:
        sys.exit(f"{command[0]} failed with status {result.returncode}: {result.stderr.decode(errors='replace')[:500]}")
    return seconds


def children_cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bare(jobs, _, arguments):
    assert len(set(jobs)) == 1, "the bare loops know one command"
    program = arguments.build_dir / "bench" / "bin" / f"batch_true_{arguments.runner}"
    return [str(program), str(len(jobs)), str(arguments.threads), jobs[0].program]


def weft(jobs, directory, arguments):
    """With what a run has by default: profiles, an event log, captured output; and a time limit for each rule."""
    rules = []
    for index, job in enumerate(jobs):
        hint = f'cost = "{job.cost:.6f}s"\n' if job.cost else ""
        rules.append(f'[[rule]]\nid = "r{index}"\ncommand = {json.dumps(job.words())}\ntimeout = "60s"\n{hint}')
    (directory / "plan.toml").write_text("".join(rules))
    program = arguments.build_dir / "apps" / "weft" / "weft"
    return [str(program), "run", "plan.toml", "--workers", str(arguments.threads)]


def parallel(jobs, directory, arguments):
    (directory / "lines").write_text("".join(f"{job.line()}\n" for job in jobs))
    return ["parallel", "-j", str(arguments.threads)]


def xargs(jobs, directory, arguments):
    # Without a shell; /bin/true takes any argument.
    (directory / "lines").write_text("".join(f"{job.argument or 'x'}\n" for job in jobs))
    return ["xargs", "-n", "1", "-P", str(arguments.threads), jobs[0].program]


def make(jobs, directory, arguments):
    names = " ".join(f"r{index}" for index in range(len(jobs)))
    recipes = "".join(f"r{index}:\n\t{job.line()}\n" for index, job in enumerate(jobs))
    (directory / "Makefile").write_text(f"all: {names}\n.PHONY: all {names}\n{recipes}")
    return ["make", "-j", str(arguments.threads)]


def ninja(jobs, directory, arguments):
    builds = "".join(f"build r{index}: run\n  line = {job.line()}\n" for index, job in enumerate(jobs))
    (directory / "build.ninja").write_text(f"rule run\n  command = $line\n{builds}")
    return ["ninja", "-j", str(arguments.threads)]


def ctest(jobs, directory, arguments):
    tests = "".join(f"add_test(r{index} {job.line()})\n" for index, job in enumerate(jobs))
    (directory / "CTestTestfile.cmake").write_text(tests)
    return ["ctest", "-j", str(arguments.threads)]


RUNNERS = {"bare": bare, "threads": bare, "weft": weft, "parallel": parallel, "xargs": xargs, "make": make,
           "ninja": ninja, "ctest": ctest}


def emit(metric, unit, value):
    print(json.dumps({"metric": metric, "unit": unit, "samples": [value]}))


if __name__ == "__main__":
    sys.exit(main())
