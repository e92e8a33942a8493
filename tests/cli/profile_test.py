#!/usr/bin/env python3
"""weft profile, from outside: tests/cli/profile_test.py WEFT [unittest arguments]"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

WEFT = "weft"
FILE = ".weft/profiles.json"
KEYS = [
    "rule", "class", "n", "estimate", "mean", "p50", "p90", "min", "max", "std_dev", "peak_rss",
    "failures", "timeouts", "last_updated",
]  # fmt: skip


def entry(times, when=1_600_000_000, rss=0, **more):
    """What a profile file says about a rule that took these times, one a minute."""
    recent = [[when + 60 * i, t] + ([rss] if rss else []) for i, t in enumerate(times)][-12:]
    mean = statistics.fmean(times) if times else 0
    return {
        "n": len(times),
        "mean": mean,
        "m2": sum((t - mean) ** 2 for t in times),
        "min": min(times, default=0),
        "max": max(times, default=0),
        "recent": recent,
    } | more


def profiles(rules, version=1):
    """A profile file with one entry for each rule, or one for each class if the key is a pair."""
    entries = {}
    for key, value in rules.items():
        rule, group = key if isinstance(key, tuple) else (key, "")
        entries.setdefault(rule, {})[group] = value
    return json.dumps({"format": "weft-profiles", "version": version, "profiles": entries})


THEIRS = json.dumps(
    {
        "AR001": {
            "rule_id": "AR001",
            "avg_time": 0.5,
            "std_dev": 0.25,
            "sample_count": 5,
            "min_time": 0.1,
            "max_time": 1.5,
            "last_updated": 1600000000.5,
        }
    }
)


class Profile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def weft(self, *arguments, stdout=subprocess.PIPE):
        return subprocess.run(
            [WEFT, "profile", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=self.folder,
            timeout=60,
            check=False,
        )

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def show(self, *arguments):
        done = self.weft("show", "--format", "json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {(row["rule"], row["class"]): row for row in json.loads(done.stdout)}

    def refuse(self, status, reason, *arguments):
        done = self.weft(*arguments)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertTrue(done.stderr.startswith("weft profile: "), done.stderr)
        self.assertIn(reason, done.stderr)

    # --- show --------------------------------------------------------------------------------

    def test_the_table_has_the_most_expensive_rule_first(self):
        self.write(
            FILE,
            profiles(
                {
                    "quick": entry([0.002, 0.004], rss=12_345_678, failures=3),
                    ("größe", "10 MB"): entry([1.5] * 20),
                    "never": entry([], failures=1),
                    "day": entry([86400.4]),
                    "zero": entry([0]),
                }
            ),
        )
        done = self.weft("show")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(
            done.stdout,
            "rule   class   n  estimate      p50      p90      min      max       sd  peak RSS  failures\n"
            "day    -       1   86400 s  86400 s  86400 s  86400 s  86400 s        0         -         0\n"
            "größe  10 MB  20     1.5 s    1.5 s    1.5 s    1.5 s    1.5 s        0         -         0\n"
            "quick  -       2   2.88 ms     2 ms     4 ms     2 ms     4 ms  1.41 ms   12.3 MB         3\n"
            "zero   -       1      1 ns        0        0        0        0        0         -         0\n"
            "never  -       0         -        -        -        -        -        -         -         1\n",
        )

    def test_json_has_every_figure_in_seconds_and_bytes(self):
        self.write(FILE, profiles({("a", "x"): entry([1.0, 3.0], rss=7, failures=2, timeouts=1)}))
        row = self.show()["a", "x"]
        self.assertEqual(list(row), KEYS)
        self.assertAlmostEqual(row.pop("estimate"), 3 ** (1 / 1.9))
        self.assertAlmostEqual(row.pop("std_dev"), 2**0.5)
        self.assertEqual(list(row.values()), ["a", "x", 2, 2.0, 1.0, 3.0, 1.0, 3.0, 7, 2, 1, 1600000060.0])

    def test_a_file_can_be_named_and_may_be_a_link(self):
        self.write("other.json", profiles({"a": entry([1])}))
        (self.folder / "link").symlink_to("other.json")
        self.assertIn(("a", ""), self.show("other.json"))
        self.assertIn(("a", ""), self.show("link"))

    def test_names_do_no_harm_to_the_terminal(self):
        self.write(FILE, profiles({"\x1b[2J\n": entry([1])}))
        done = self.weft("show")
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn("\\x1b[2J\\n", done.stdout)

    def test_a_file_without_rules_says_so(self):
        self.write(FILE, profiles({}))
        self.assertEqual(self.weft("show").stdout, FILE + " has no profiles yet\n")
        self.assertEqual(self.show(), {})

    def test_bad_entries_are_warned_about_and_the_others_shown(self):
        self.write(FILE, profiles({"bad": entry([1]) | {"mean": -1}, "good": entry([1])}))
        done = self.weft("show")
        self.assertEqual(done.returncode, 0)
        self.assertIn('weft profile: warning: .weft/profiles.json: left out: rule "bad": mean is -1', done.stderr)
        self.assertIn("good", done.stdout)
        self.assertNotIn("bad", done.stdout)

    def test_showing_a_file_that_is_something_else_leaves_it_alone(self):
        for text in ("", "# README", "\0" * 100, "[1]", '{"a": 1}', profiles({"a": entry([1])})[:-1]):
            with self.subTest(text=text):
                self.write("README.md", text)
                self.refuse(65, "README.md is not a profile file", "show", "README.md")
                self.assertEqual((self.folder / "README.md").read_text(), text)

    def test_what_is_no_file_is_refused_at_once(self):
        self.refuse(66, "cannot open .weft/profiles.json: No such file", "show")
        self.refuse(66, "it is a directory", "show", ".")
        os.mkfifo(self.folder / "pipe")
        self.refuse(66, "it is a named pipe", "show", "pipe")

    def test_output_that_cannot_be_written_ends_with_74(self):
        self.write(FILE, profiles({"a": entry([1])}))
        with open("/dev/full", "wb") as full:
            done = self.weft("show", stdout=full)
        self.assertEqual(done.returncode, 74)
        self.assertIn("cannot write to standard output", done.stderr)

    # --- merge -------------------------------------------------------------------------------

    def test_merging_is_having_seen_everything(self):
        times = [0.5, 0.25, 4.0, 1.0, 2.0]
        self.write("1.json", profiles({"a": entry(times[:2], failures=1), "b": entry([1])}))
        self.write("2.json", profiles({"a": entry(times[2:], when=1_600_000_120, timeouts=1)}))
        done = self.weft("merge", "all.json", "1.json", "2.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "all.json: 2 profiles from 2 files\n")
        self.write("expected.json", profiles({"a": entry(times, failures=1, timeouts=1)}))
        merged, expected = self.show("all.json")["a", ""], self.show("expected.json")["a", ""]
        for key in ("mean", "std_dev"):
            self.assertAlmostEqual(merged.pop(key), expected.pop(key), places=12)
        self.assertEqual(merged, expected)

        self.weft("merge", "again.json", "2.json", "1.json")
        for one, other in zip(self.show("all.json").values(), self.show("again.json").values(), strict=True):
            self.assertEqual(one["n"], other["n"])
            self.assertEqual(one["estimate"], other["estimate"])

    def test_merging_replaces_unless_the_output_is_an_input(self):
        self.write("out.json", profiles({"old": entry([1])}))
        self.write("in.json", profiles({"new": entry([1])}))
        self.assertEqual(self.weft("merge", "out.json", "out.json", "in.json").returncode, 0)
        self.assertEqual(len(self.show("out.json")), 2)
        self.assertEqual(self.weft("merge", "out.json", "in.json").returncode, 0)
        self.assertEqual(list(self.show("out.json")), [("new", "")])

    def test_merging_does_not_replace_what_is_no_profile_file(self):
        self.write("plan.toml", "[plan]")
        self.write("in.json", profiles({"a": entry([1])}))
        self.refuse(65, "plan.toml is not a profile file", "merge", "plan.toml", "in.json")
        self.assertEqual((self.folder / "plan.toml").read_text(), "[plan]")
        newer = profiles({}, version=2)
        self.write("newer.json", newer)
        self.refuse(65, "newer.json is of version 2", "merge", "newer.json", "in.json")
        self.assertEqual((self.folder / "newer.json").read_text(), newer)

    def test_a_bad_input_writes_nothing(self):
        self.write("in.json", profiles({"a": entry([1])}))
        self.refuse(66, "cannot open none.json", "merge", "out.json", "in.json", "none.json")
        self.assertEqual(os.listdir(self.folder), ["in.json"])

    def test_an_output_that_is_a_link_is_refused(self):
        self.write("victim", profiles({"a": entry([1])}))
        (self.folder / "out.json").symlink_to("victim")
        self.refuse(77, "out.json is a symbolic link", "merge", "out.json", "victim")
        self.refuse(77, "out.json is a symbolic link", "import", "victim", "--into", "out.json")
        self.assertEqual((self.folder / "victim").read_text(), profiles({"a": entry([1])}))

    def test_an_output_without_a_directory_ends_with_73(self):
        self.write("in.json", profiles({}))
        self.refuse(73, "cannot create the directory no/such", "merge", "no/such/out.json", "in.json")

    # --- import ------------------------------------------------------------------------------

    def test_the_file_of_the_validator_is_imported(self):
        self.write("rule_execution_profiles.json", THEIRS)
        done = self.weft("import", "rule_execution_profiles.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, ".weft/profiles.json: added 1 profile from 1 file\n")
        row = self.show()["AR001", ""]
        self.assertEqual((row["n"], row["mean"], row["min"], row["max"]), (5, 0.5, 0.1, 1.5))
        self.assertAlmostEqual(row["std_dev"], 0.25)
        self.assertEqual(row["last_updated"], 1600000000.5)

    def test_what_is_written_has_the_names_of_the_validator(self):
        self.write("theirs.json", THEIRS)
        self.weft("import", "theirs.json")
        written = json.loads((self.folder / FILE).read_text())["profiles"]["AR001"][""]
        theirs = json.loads(THEIRS)["AR001"]
        del theirs["rule_id"]
        self.assertEqual({key: written[key] for key in theirs}, theirs)

    def test_importing_adds_to_what_is_there(self):
        self.write("theirs.json", THEIRS)
        self.write("mine.json", profiles({"AR001": entry([1, 2]), "other": entry([1])}))
        for _ in range(2):
            self.assertEqual(self.weft("import", "theirs.json", "--into", "mine.json").returncode, 0)
        self.assertEqual(self.show("mine.json")["AR001", ""]["n"], 12)
        self.assertEqual(self.show("mine.json")["other", ""]["n"], 1)

    def test_pruning_keeps_the_rules_of_a_plan(self):
        self.write(FILE, profiles({"a": entry([1]), "b": entry([1]), ("b", "large"): entry([2])}))
        self.write("plan.toml", "[[rule]]\nid = 'a'\nshell = 'x'\n")
        done = self.weft("prune", "--plan", "plan.toml", "--dry-run")
        self.assertIn("2 profiles would be taken out, 1 kept", done.stdout)
        self.assertEqual(len(self.show()), 3)
        done = self.weft("prune", "--plan", "plan.toml")
        self.assertEqual(done.stdout, "b\nb  large\n.weft/profiles.json: 2 profiles taken out, 1 kept\n")
        self.assertEqual(list(self.show()), [("a", "")])

    def test_pruning_takes_out_what_has_not_run_for_long(self):
        self.write(FILE, profiles({"old": entry([1]), "new": entry([1], when=int(time.time()))}))
        self.assertEqual(self.weft("prune", "--older", "30d").returncode, 0)
        self.assertEqual(list(self.show()), [("new", "")])
        before = (self.folder / FILE).read_bytes()
        self.assertIn("0 profiles taken out, 1 kept", self.weft("prune", "--older", "30d").stdout)
        self.assertEqual((self.folder / FILE).read_bytes(), before)

    def test_pruning_needs_to_know_what(self):
        self.write(FILE, profiles({"a": entry([1])}))
        self.assertEqual(self.weft("prune").returncode, 2)
        self.assertEqual(self.weft("prune", "--older", "soon").returncode, 2)
        self.assertEqual(self.weft("prune", "--plan", "missing.toml").returncode, 66)
        self.assertEqual(self.weft("prune", "missing.json", "--older", "1d").returncode, 66)
        self.write("foreign.json", "{")
        self.assertEqual(self.weft("prune", "foreign.json", "--older", "1d").returncode, 65)

    def test_what_is_written_is_on_the_disk_before_it_has_its_name(self):
        if os.environ.get("WEFT_SANITIZE") or not shutil.which("strace"):
            self.skipTest("needs strace, which sanitizers do not go along with")
        self.write("theirs.json", THEIRS)
        calls = "trace=mkdir,openat,flock,write,fsync,renameat"
        command = ["strace", "-o", "trace", "-e", calls, WEFT, "profile", "import", "theirs.json"]
        subprocess.run(command, cwd=self.folder, check=True, timeout=60, stdout=subprocess.DEVNULL)
        trace = (self.folder / "trace").read_text()
        directory = re.search(r'openat\(AT_FDCWD, "\.weft", .* = (\d+)', trace)
        temporary = re.search(r'"(\.profiles\.json\.tmp-[0-9a-f]{16})", .*O_EXCL.* = (\d+)', trace)
        name, file = temporary.groups()
        steps = [
            "flock(",
            f'"{name}"',
            f"write({file}, ",
            f"fsync({file})",
            f'renameat({directory[1]}, "{name}", {directory[1]}, "profiles.json")',
            f"fsync({directory[1]})",
        ]
        at = directory.end()
        for step in steps:
            self.assertIn(step, trace[at:])
            at += trace[at:].index(step) + len(step)

    # --- Usage -------------------------------------------------------------------------------

    def test_wrong_usage_ends_with_2_and_says_why(self):
        wrong = {
            (): "expected show, merge, import or prune",
            ("teleport",): "teleport",
            ("show", "a", "b"): "b",
            ("show", "--format", "xml"): "xml not in {text,json}",
            ("merge",): "OUT",
            ("merge", "out.json"): "IN",
            ("import",): "FILE",
            ("import", "a", "--into"): "--into",
        }
        for arguments, reason in wrong.items():
            with self.subTest(arguments=arguments):
                done = self.weft(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(reason, done.stderr)

    def test_help(self):
        for arguments, text in {
            (): "weft profile merge all.json shard-1.json shard-2.json",
            ("show",): "estimate is what a rule will cost next",
            ("merge",): "OUT IN...",
            ("import",): "counts twice",
        }.items():
            done = self.weft(*arguments, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(text, done.stdout)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
