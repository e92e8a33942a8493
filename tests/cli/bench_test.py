#!/usr/bin/env python3
"""weft bench, from outside: tests/cli/bench_test.py WEFT [unittest arguments]"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = "weft"
WATCHDOG = 60

PLAN = """
[plan]
name = "example"
[[batch]]
id = "first"
[[batch]]
id = "second"
after = ["first"]
[[rule]]
id = "a"
batch = "first"
shell = "echo a >>ran"
[[rule]]
id = "b"
batch = "second"
shell = "echo b >>ran"
"""


TANGLED = """
[[batch]]
id = "first"
[[batch]]
id = "second"
[[rule]]
id = "a"
batch = "first"
shell = "echo a >>ran"
[[rule]]
id = "b"
batch = "second"
after = ["a"]
command = ["true"]
[[rule]]
id = "c"
batch = "first"
after = ["b"]
command = ["true"]
"""


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-bench-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "plan.toml").write_text(PLAN)

    def weft(self, *arguments):
        return subprocess.run(
            [WEFT, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "TMPDIR": str(self.folder)},
            timeout=WATCHDOG,
            check=False,
        )

    def bench(self, *arguments, status=0):
        done = self.weft("bench", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def result(self, name=".weft/bench.json"):
        return json.loads((self.folder / name).read_text())

    def ran(self):
        return (self.folder / "ran").read_text().count("a")

    def test_it_compares_fixed_with_adaptive_cold_and_warm(self):
        done = self.bench("plan.toml", "--runs", "2", "-j", "2")
        made = self.result()
        self.assertEqual(
            [r["mode"] for r in made["results"]], ["fixed", "adaptive_cold", "adaptive_warm"]
        )
        self.assertEqual([len(r["times"]) for r in made["results"]], [2, 2, 2])
        self.assertEqual(made["results"][0]["name"], "Fixed (2 workers)")
        self.assertEqual(made["results"][0]["barriers"], True)
        self.assertEqual(self.ran(), 7)  # and once to warm up
        for result in made["results"]:
            self.assertIn(result["name"], done.stdout)
            self.assertEqual(result["passed_count"], 2)
            self.assertAlmostEqual(result["total_time"], sum(result["times"]) / 2, places=5)
        self.assertEqual(len(made["differences"]), 2)

    def test_it_leaves_learned_costs_and_logs_alone(self):
        self.bench("plan.toml", "--runs", "1", "--output", "out.json")
        self.assertEqual(sorted(os.listdir(self.folder)), ["out.json", "plan.toml", "ran"])

    def test_one_run_says_that_it_tells_nothing_about_chance(self):
        words = self.bench("plan.toml", "--runs", "1").stdout.split()  # where lines break depends
        self.assertIn("from one run: --runs 3", " ".join(words))
        self.assertFalse(any(d["significant"] for d in self.result()["differences"]))

    def test_variants_can_be_chosen(self):
        def modes(*arguments):
            self.bench("plan.toml", "--runs", "1", *arguments)
            return [(r["mode"], r["policy"]) for r in self.result()["results"]]

        fixed, cold, warm = (
            ("fixed", "fifo"),
            ("adaptive_cold", "critical-path"),
            ("adaptive_warm", "critical-path"),
        )
        self.assertEqual(modes("--fixed-only"), [fixed])
        self.assertEqual(modes("--adaptive-only"), [cold, warm])
        self.assertEqual(modes("--cold-start"), [fixed, cold])
        self.assertEqual(modes("--adaptive-only", "--cold-start"), [cold])
        self.assertEqual(
            modes("--adaptive-only", "--policies", "critical-path,stealing,fifo"),
            [cold, warm, ("adaptive_warm", "stealing"), ("adaptive_warm", "fifo")],
        )

    def test_a_report_draws_it(self):
        self.bench("plan.toml", "--runs", "2")
        self.assertEqual(self.weft("run", "plan.toml").returncode, 0)
        done = self.weft("report", "--comparison", "--benchmark", ".weft/bench.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("measured: Fixed (", done.stdout)
        self.assertIn("against Fixed (", done.stdout)

    def test_a_failing_rule_is_told_and_makes_it_1(self):
        (self.folder / "plan.toml").write_text("[[rule]]\nid = 'x'\nshell = 'exit 1'\n")
        done = self.bench("plan.toml", "--runs", "1", status=1)
        self.assertIn("1 rule failed", done.stderr)

    def test_an_output_that_cannot_be_written_is_told_before_anything_runs(self):
        done = self.bench("plan.toml", "--output", "plan.toml/x", status=73)
        self.assertIn("cannot write", done.stderr)
        self.assertFalse((self.folder / "ran").exists())

    def test_an_interrupt_keeps_the_rounds_that_are_complete(self):
        os.mkfifo(self.folder / "go")
        (self.folder / "plan.toml").write_text("[[rule]]\nid = 'x'\nshell = 'echo x >>ran; read l <go'\n")
        child = subprocess.Popen(
            [WEFT, "bench", "plan.toml", "--fixed-only"],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        with open(self.folder / "go", "w") as go:
            go.write("l\n")
        child.stderr.readline()  # the first round has ended
        with open(self.folder / "go", "w"):  # the second one waits
            child.send_signal(signal.SIGTERM)
            out, _ = child.communicate(timeout=WATCHDOG)
        self.assertEqual(child.returncode, 130, out)
        self.assertEqual(len(self.result()["results"][0]["times"]), 1)

    def test_an_interrupt_of_the_warm_up_ends_it_and_tells_of_no_run(self):
        os.mkfifo(self.folder / "begun")
        (self.folder / "plan.toml").write_text("[[rule]]\nid = 'x'\nshell = 'echo x >begun; sleep 600'\n")
        child = subprocess.Popen(
            [WEFT, "bench", "plan.toml"],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        (self.folder / "begun").read_text()
        child.send_signal(signal.SIGTERM)
        out, problem = child.communicate(timeout=WATCHDOG)
        self.assertEqual((child.returncode, out), (130, ""))
        self.assertEqual(
            problem, "weft bench: interrupted before every variant had run once; nothing is written\n"
        )

    def test_batches_that_wait_for_each_other_are_compared_without_fixed(self):
        (self.folder / "plan.toml").write_text(TANGLED)
        done = self.bench("plan.toml", "--runs", "1")
        self.assertIn("without Fixed: rules of two batches wait for each other", done.stderr)
        self.assertEqual(
            [r["mode"] for r in self.result()["results"]], ["adaptive_cold", "adaptive_warm"]
        )
        (self.folder / "ran").unlink()
        self.assertIn("--fixed-only: rules of", self.bench("plan.toml", "--fixed-only", status=65).stderr)
        self.assertFalse((self.folder / "ran").exists())

    def test_what_it_prints_fits_eighty_columns(self):
        done = self.bench("plan.toml", "--runs", "2", "--policies", "largest-first")
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)

    def test_a_plan_without_rules_is_refused(self):
        (self.folder / "plan.toml").write_text("")
        self.assertIn("plan.toml has no rules", self.bench("plan.toml", status=65).stderr)

    def test_bad_input_is_refused(self):
        self.assertIn("missing.toml", self.bench("missing.toml", status=66).stderr)
        self.bench("plan.toml", "--runs", "0", status=2)
        self.bench("plan.toml", "--fixed-only", "--adaptive-only", status=2)
        self.bench("plan.toml", "--policies", "best", status=2)
        (self.folder / "foreign.json").write_text("{}")
        self.assertEqual(self.weft("run", "plan.toml").returncode, 0)
        done = self.weft("report", "--benchmark", "foreign.json")
        self.assertEqual(done.returncode, 65)
        self.assertIn("this is no file of weft bench", done.stderr)


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
