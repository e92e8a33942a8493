#!/usr/bin/env python3
"""weft run under kill -9: tests/cli/kill_test.py WEFT [unittest arguments]"""

import ctypes
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

WEFT = "weft"
WATCHDOG = 60
RULES = 60
ROUNDS = 20 if os.environ.get("WEFT_SANITIZE") else 200
TRY_AGAIN, MISSING = 75, 66
PR_SET_CHILD_SUBREAPER = 36


def make_plan():
    """Rules that each leave a line in a file of their own whenever they run."""
    text = ""
    for i in range(RULES):
        after = f'after = ["r{i // 3}"]\n' if i % 4 == 3 else ""
        text += f"[[rule]]\nid = \"r{i}\"\n{after}shell = 'echo ran >>r{i}'\n"
    return text


class Killed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Commands that outlive their run become children of this process, which can wait for them."""
        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-kill-", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def start(self, *arguments):
        return subprocess.Popen(
            [WEFT, "run", "plan.toml", "--workers", "4", "--format", "json", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=self.folder,
        )

    def finish(self, *arguments):
        child = self.start(*arguments)
        text, problem = child.communicate(timeout=WATCHDOG)
        return child.returncode, text, problem

    def kill(self, after, *arguments):
        """True if the run was killed, False if it was faster."""
        child = self.start(*arguments)
        time.sleep(after)  # the random moment
        child.kill()
        child.communicate(timeout=WATCHDOG)
        return child.returncode < 0

    @staticmethod
    def wait_for_orphans():
        try:
            while True:
                os.waitpid(-1, 0)
        except ChildProcessError:
            pass

    def clear(self):
        for path in [*self.folder.glob("r[0-9]*"), *self.folder.glob(".weft/runs/*")]:
            path.unlink()

    def ended(self):
        """How often each rule has its end in the log, as far as that is complete."""
        times = {}
        for log in self.folder.glob(".weft/runs/*.jsonl"):
            for line in log.read_text().split("\n")[:-1]:
                event = json.loads(line)
                if event["event"] == "end":
                    times[f"r{event['rule']}"] = times.get(f"r{event['rule']}", 0) + 1
        return times

    def times_run(self, name):
        path = self.folder / name
        return path.read_text().count("ran\n") if path.exists() else 0

    def complete(self):
        """Goes on until there is a report, and returns it."""
        options = ["--resume"]
        for _ in range(1000):
            status, text, problem = self.finish(*options)
            if status == TRY_AGAIN:  # a child that was just being started still has the log
                continue
            if status == MISSING and "has come to its end" in problem:
                return None
            if status == MISSING and options:
                self.assertEqual(self.ended(), {}, problem)
                options = []  # it was killed before it had a log
                continue
            self.assertEqual(status, 0, problem)
            return json.loads(text)
        return self.fail("the log was never free")

    def one_round(self, dice, typical):
        self.clear()
        was_killed = self.kill(dice.uniform(0, typical * 1.1))
        if was_killed and dice.random() < 0.3:
            self.kill(dice.uniform(0, typical), "--resume")
            # A command of the first run may come late, when the second has run its rule to the end.
            self.wait_for_orphans()
        before = self.ended()
        counts = {name: self.times_run(name) for name in before}
        report = self.complete()

        after = self.ended()
        self.assertEqual(after, {f"r{i}": 1 for i in range(RULES)}, "each has one end in the log")
        for name in after:
            self.assertGreaterEqual(self.times_run(name), 1, f"{name} is said to have run")
        for name, count in counts.items():
            self.assertEqual(self.times_run(name), count, f"{name} had ended and ran again")
        if report is not None:
            self.assertEqual([each["id"] for each in report["rules"]], [f"r{i}" for i in range(RULES)])
            self.assertEqual({each["status"] for each in report["rules"]}, {"passed"})
            self.assertEqual((report["passed_count"], report["not_run_count"]), (RULES, 0))
        return was_killed and 0 < len(before) < RULES

    def test_every_rule_is_accounted_for_once(self):
        seed = random.SystemRandom().randrange(1 << 32)
        print(f"seed {seed}")
        dice = random.Random(seed)
        (self.folder / "plan.toml").write_text(make_plan())
        began = time.monotonic()
        self.assertEqual(self.finish()[0], 0)
        typical = time.monotonic() - began
        amid = 0
        for number in range(ROUNDS):
            with self.subTest(round=number, seed=seed):
                amid += self.one_round(dice, typical)
        print(f"{amid} of {ROUNDS} were killed while rules ran, after up to {typical * 1.1:.3f} s")
        self.assertGreater(amid, ROUNDS // 10)


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
