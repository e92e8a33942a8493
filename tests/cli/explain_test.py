#!/usr/bin/env python3
"""weft explain, from outside: tests/cli/explain_test.py WEFT [unittest arguments]"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

WEFT = "weft"
WATCHDOG = 60
DATA = Path(__file__).parent / "data"


class Explain(unittest.TestCase):
    def explain(self, *arguments, status=0, **changes):
        done = subprocess.run(
            [WEFT, "explain", *arguments, "--runs", str(DATA)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            env={"PATH": os.environ["PATH"]} | changes,
            timeout=WATCHDOG,
            check=False,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        text = done.stdout if status == 0 else done.stderr
        return " ".join(text.split())

    def test_it_names_what_made_the_rule_ready(self):
        self.assertIn("ready at 2.700 s, when compile had ended", self.explain("unit"))
        self.assertIn("ready at 0.000 s: it waits for no rule", self.explain("configure"))

    def test_it_tells_waiting_for_room_from_waiting_for_a_worker(self):
        text = self.explain("slow-tests")
        self.assertIn("2 rules began first: unit flaky-test", text)
        self.assertIn("waited 752 ms for room", text)
        self.assertIn("timed out, took 2.00 s on worker 1", text)

    def test_it_says_whether_the_rule_matters(self):
        self.assertIn("none: it is on the critical path", self.explain("compile"))
        self.assertIn("3.10 s: so much slower it could be", self.explain("docs"))

    def test_it_compares_the_prediction_with_what_it_took(self):
        self.assertIn("2.00 s, from its profile; took 2.20 s (+10 %)", self.explain("compile"))
        self.assertIn("1.00 s, from its hint in the plan", self.explain("docs"))

    def test_a_repeated_rule_has_a_sentence_for_each_attempt(self):
        text = self.explain("flaky-test")
        self.assertIn("attempt 1 began at 2.702 s and failed after 300 ms", text)
        self.assertIn("ready again at 3.102 s", text)
        self.assertIn("flaky in 100 %", text)

    def test_a_skipped_rule_names_the_failure(self):
        self.assertIn("did not run: lint, which it needs, failed", self.explain("publish"))

    def test_a_stolen_rule_says_from_whom(self):
        self.assertIn("stolen from worker 0", self.explain("docs"))

    def test_it_fits_narrow_terminals(self):
        done = subprocess.run(
            [WEFT, "explain", "slow-tests", "--runs", str(DATA)],
            capture_output=True,
            encoding="utf-8",
            env={"COLUMNS": "40"},
            timeout=WATCHDOG,
            check=True,
        )
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 40)

    def test_json_has_the_same(self):
        made = json.loads(self.explain("slow-tests", "--format", "json"))
        self.assertEqual(made["made_ready_by"], "compile")
        self.assertEqual(made["began_first"], ["unit", "flaky-test"])
        self.assertTrue(made["critical"])
        self.assertEqual(made["slack"], 0)
        self.assertEqual([run["status"] for run in made["history"]], ["timed_out"])

    def test_a_rule_that_is_not_there_is_66_with_the_one_that_was_meant(self):
        self.assertIn("did you mean compile?", self.explain("complie", status=66))
        self.assertIn("has no rule zebra", self.explain("zebra", status=66))

    def test_a_run_that_is_not_there_is_66(self):
        self.assertIn("there is no run or file 1999", self.explain("unit", "--run", "1999", status=66))

    def test_a_rule_is_needed(self):
        self.explain(status=2)


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
