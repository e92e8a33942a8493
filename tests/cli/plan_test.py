#!/usr/bin/env python3
"""weft plan, from outside: tests/cli/plan_test.py WEFT [unittest arguments]"""

import json
import os
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
[[rule]]
id = "compile"
cost = "6s"
shell = "false"
[[rule]]
id = "test"
after = ["compile"]
cost = "2s"
shell = "false"
[[rule]]
id = "aside"
cost = "3s"
shell = "false"
"""


class Plan(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-plan-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "plan.toml").write_text(PLAN)

    def plan(self, *arguments, status=0, text="", **changes):
        done = subprocess.run(
            [WEFT, "plan", *arguments],
            input=text,
            capture_output=True,
            encoding="utf-8",
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "WEFT_WORKERS": "2"} | changes,
            timeout=WATCHDOG,
            check=False,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_it_predicts_the_time_for_each_number_of_workers(self):
        made = json.loads(self.plan("plan.toml", "-j", "1", "2", "4", "--format", "json"))
        self.assertEqual([f["workers"] for f in made["forecasts"]], [1, 2, 4])
        self.assertEqual([f["predicted_time"] for f in made["forecasts"]], [11, 8, 8])
        self.assertEqual([f["lower_bound"] for f in made["forecasts"]], [11, 8, 8])

    def test_numbers_may_be_joined_by_commas(self):
        made = json.loads(self.plan("plan.toml", "-j", "1,3", "--format", "json"))
        self.assertEqual([f["workers"] for f in made["forecasts"]], [1, 3])

    def test_without_numbers_it_tries_as_many_as_pay(self):
        made = json.loads(self.plan("plan.toml", "--format", "json"))
        self.assertEqual([f["workers"] for f in made["forecasts"]], [1, 2])

    def test_it_shows_the_critical_path_and_what_is_worth_making_faster(self):
        text = self.plan("plan.toml")
        self.assertIn("Critical path: 8.00 s, 2 rules", text)
        self.assertIn("Worth making faster on 2 workers", text)
        self.assertLess(text.index("3.00 s  compile"), text.index("1.00 s  test"))
        self.assertNotIn("aside", text)

    def test_learned_costs_count_more_than_hints(self):
        (self.folder / "p.json").write_text(
            '{"compile": {"rule_id": "compile", "avg_time": 1, "std_dev": 0, "sample_count": 5,'
            ' "min_time": 1, "max_time": 1, "last_updated": 1600000000}}'
        )
        made = json.loads(
            self.plan("plan.toml", "--profiles", "p.json", "-j", "8", "--format", "json")
        )
        self.assertEqual(made["forecasts"][0]["predicted_time"], 3)

    def test_nothing_runs_and_nothing_is_written(self):
        self.plan("plan.toml")
        self.assertEqual(os.listdir(self.folder), ["plan.toml"])

    def test_commands_can_come_from_standard_input(self):
        self.assertIn("2 rules", self.plan("-", text="true\nfalse\n"))

    def test_an_even_plan_has_no_rule_worth_making_faster(self):
        text = self.plan("-", "-j", "1", text="true\n" * 2000)
        self.assertIn("No single rule is worth making faster on 1 worker", text)

    def test_it_says_how_much_is_guessed(self):
        self.assertNotIn("guess", self.plan("plan.toml"))
        (self.folder / "new.toml").write_text(PLAN + "[[rule]]\nid = 'new'\ncheck = { exists = 'x' }\n")
        self.assertIn("Of 1 rule nothing is known: a guess", self.plan("new.toml"))
        self.assertEqual(json.loads(self.plan("new.toml", "--format", "json"))["guesses"], 1)

    def test_a_critical_path_may_be_one_rule(self):
        self.assertIn("10.0 ms, the longest rule;", self.plan("-", text="true\n"))

    def test_a_plan_without_rules_has_nothing_to_do(self):
        self.assertEqual(self.plan("-"), "-: 0 rules, expected to take\nNothing to do.\n")

    def test_a_profile_file_that_cannot_be_read_is_told(self):
        (self.folder / "p.json").write_text("hello")
        done = subprocess.run(
            [WEFT, "plan", "plan.toml", "--profiles", "p.json"],
            cwd=self.folder,
            capture_output=True,
            encoding="utf-8",
            timeout=WATCHDOG,
            check=False,
        )
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning: without learned costs: p.json is not a profile file", done.stderr)

    def test_help_of_every_command_fits_eighty_columns(self):
        commands = ("run", "plan", "report", "explain", "bench", "profile", "simulate")
        parts = (("profile", name) for name in ("show", "merge", "import", "prune"))
        for command in ((), *((name,) for name in commands), *parts):
            done = subprocess.run(
                [WEFT, *command, "--help"], capture_output=True, encoding="utf-8", check=True
            )
            self.assertEqual([line for line in done.stdout.splitlines() if len(line) > 80], [])

    def test_it_fits_narrow_terminals(self):
        text = self.plan("plan.toml", COLUMNS="60")
        self.assertLessEqual(max(map(len, text.splitlines())), 60)

    def test_bad_input_is_refused(self):
        self.assertIn("missing.toml", self.plan("missing.toml", status=66))
        (self.folder / "bad.toml").write_text("[[rule]]\n")
        self.assertIn("bad.toml", self.plan("bad.toml", status=65))
        self.plan("plan.toml", "-j", "0", status=2)
        self.plan(status=2)


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
