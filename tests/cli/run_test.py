#!/usr/bin/env python3
"""weft run, from outside: tests/cli/run_test.py WEFT [unittest arguments]"""

import fcntl
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

WEFT = "weft"
WATCHDOG = 60  # seconds; nothing here takes a tenth of it


def environment(**changes):
    dropped = ("COLUMNS", "LINES", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "WEFT_WORKERS")
    return {k: v for k, v in os.environ.items() if k not in dropped} | changes


def rules(*tables):
    """A plan of rules, each a text of its lines."""
    return "".join(f"[[rule]]\n{table}\n" for table in tables)


def rule(name, body="command = ['true']", *more):
    return "\n".join([f'id = "{name}"', body, *more])


def shell(name, line, *more):
    return rule(name, f"shell = '''{line}'''", *more)


def without_figures(text):
    """The text with N for what differs between two runs, and single blanks."""
    text = re.sub(r"\d+(\.\d+)? (us|ms|s)\b", "N s", text)
    text = re.sub(r"\d+\.\d+", "N", text)
    return re.sub(r"(?<=\S) +", " ", text)


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-run-", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, text, name="plan.toml"):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def weft(self, *arguments, text="", **options):
        usual = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment()}
        return subprocess.run(
            [WEFT, "run", *arguments],
            input=text,
            encoding="utf-8",
            errors="surrogateescape",
            cwd=self.folder,
            timeout=WATCHDOG,
            check=False,
            **(usual | options),
        )

    def run_plan(self, plan, *arguments, status=0):
        """The report of a run that ends with this status."""
        done = self.weft(self.write(plan), "--format", "json", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout)

    def again(self, *arguments, status=0):
        done = self.weft("plan.toml", "--format", "json", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout)

    def refuse(self, status, reason, *arguments, **options):
        done = self.weft(*arguments, **options)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertIn(reason, done.stderr)
        self.assertNotIn("terminate called", done.stderr)
        return done

    def as_nobody(self):
        """The beginning of a command that runs without rights."""
        if os.geteuid() != 0:
            return []
        tool = shutil.which("setpriv")
        prefix = [tool or "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if not tool or subprocess.run([*prefix, "test", "-x", WEFT], check=False).returncode != 0:
            self.skipTest("this user may do everything, and there is no other to try")
        return prefix

    def logs(self):
        return sorted((self.folder / ".weft/runs").glob("*.jsonl"))

    def lines_of(self, name):
        path = self.folder / name
        return path.read_text().split() if path.exists() else []


def statuses(report):
    return {each["id"]: each["status"] for each in report["rules"]}


def ids(report):
    return [each["id"] for each in report["rules"]]


MIXED = """
[plan]
name = "mixed"
[[batch]]
id = "first"
name = "First things"
[[batch]]
id = "then"
after = ["first"]
""" + rules(
    shell("good", "echo unseen", 'batch = "first"', 'name = "Fine"'),
    rule("odd", "check = { exists = 'nothing*' }", 'batch = "first"', 'severity = "warn"'),
    shell("bad", r"echo why; printf '\033[2J'; exit 3", 'batch = "then"'),
    shell("next", "true", 'batch = "then"', 'after = ["bad"]'),
)


class Output(RunTest):
    def test_text_has_a_line_a_rule_the_failures_the_figures_and_what_to_do(self):
        # Wide enough for the parts of the gap, which are more or fewer, to stand in one line.
        done = self.weft(self.write(MIXED), "--workers", "1", env=environment(COLUMNS="200"))
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(
            without_figures(done.stdout),
            """\
[1/4] pass good Fine N s
[2/4] warn odd N s
    there is no nothing*
[3/4] FAIL bad N s
    exit code 3
  | why
  | \\x1b[2J
[4/4] skip next: bad failed

mixed: 4 rules in 2 batches, 2 passed (1 with a warning), 1 failed, 1 skipped
Failed:
  bad: exit code 3

Duration N s
"""
            + "".join(line + "\n" for line in without_figures(done.stdout).splitlines()[14:16])
            + """\
Workers 1 worker, critical-path, costs not learned yet
Utilisation N % (N to N, standard deviation N points)
Steals 0 (N % of the rules)
Prediction off by N %

Batch Name Rules Workers Time Util Steals
0 First things 2 1 N s N% 0
1 then 2 1 N s N% 0

To run what failed again: weft run plan.toml --rerun-failed
""",
        )
        bound, gap = without_figures(done.stdout).splitlines()[14:16]
        self.assertRegex(bound, "^Lower bound N s: ")
        self.assertRegex(gap, r"^ +N s above it \(N x\)")

    def test_quiet_shows_failures_alone(self):
        done = self.weft(self.write(MIXED), "--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(
            without_figures(done.stdout), "[3/4] FAIL bad N s\n    exit code 3\n  | why\n  | \\x1b[2J\n"
        )

    def test_verbose_shows_what_rules_print_and_each_batch(self):
        done = self.weft(self.write(MIXED), "-v", "--workers", "3")
        text = without_figures(done.stdout)
        self.assertIn("  | unseen\n", text)
        for line in (
            "[BATCH 0] First things\n",
            "[BATCH 0] Rules: 2, Workers: ",
            "[BATCH 1] Estimated time: Ns\n",
            "[BATCH 1] Complete: 0/2 passed in Ns\n",
            "[BATCH 1] Prediction error: N%\n",
            "[BATCH 1] Work stolen: 0 tasks\n",
            "[BATCH 0] Worker utilization: N%\n",
        ):
            self.assertIn(line, text)

    def test_json_has_the_agreed_fields(self):
        report = self.run_plan(MIXED, "--workers", "2", status=1)
        number = (int, float)
        fields = {
            "name": str, "mode": str, "workers": int, "total_time": number, "total_rules": int,
            "passed_count": int, "failed_count": int, "avg_worker_utilization": number,
            "min_worker_utilization": number, "max_worker_utilization": number,
            "utilization_variance": number, "overall_efficiency": number, "total_steals": int,
            "steal_percentage": number, "avg_prediction_error": number, "batch_workers": list,
            "batch_times": list, "lower_bound": number, "gap": number, "critical_path": dict,
            "gap_parts": dict, "worker_stats": list, "rules": list, "ending": str, "run": str,
            "skipped_count": int, "not_run_count": int, "flaky_count": int, "warned_count": int,
        }  # fmt: skip
        for key, kind in fields.items():
            self.assertIsInstance(report[key], kind, key)
        self.assertEqual((report["name"], report["mode"], report["workers"]), ("mixed", "adaptive_cold", 2))
        self.assertEqual([report[k] for k in ("total_rules", "passed_count", "failed_count")], [4, 2, 1])
        self.assertEqual(list(report["gap_parts"]), ["dependency", "tail", "admission", "overhead"])
        self.assertEqual(len(report["worker_stats"]), 2)
        for worker in report["worker_stats"]:
            self.assertEqual(list(worker), ["busy", "idle", "tasks", "steals", "steal_attempts"])
        for each in report["rules"]:
            for key in (
                "id", "status", "start", "duration", "predicted", "worker", "attempts", "exit_code", "peak_rss",
            ):  # fmt: skip
                self.assertIn(key, each)
        self.assertEqual(
            statuses(report), {"good": "passed", "odd": "warned", "bad": "failed", "next": "skipped"}
        )
        bad = report["rules"][2]
        self.assertEqual((bad["exit_code"], bad["attempts"], bad["output"]), (3, 1, "why\n\x1b[2J"))

    def test_the_mode_says_whether_costs_were_known(self):
        plan = rules(rule("a"))
        self.assertEqual(self.run_plan(plan)["mode"], "adaptive_cold")
        self.assertEqual(self.again()["mode"], "adaptive_warm")
        self.assertEqual(self.again("--barriers", "--fixed")["mode"], "fixed")

    def test_output_writes_the_report_to_a_file(self):
        self.write(rules(rule("a")))
        done = self.weft("plan.toml", "--format", "json", "--output", "report.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(ids(json.loads((self.folder / "report.json").read_text())), ["a"])
        self.assertIn("1 rule, 1 passed", done.stdout)
        self.weft("plan.toml", "--output", "report.txt")
        self.assertIn("Lower bound", (self.folder / "report.txt").read_text())

    def test_an_output_that_cannot_be_written_is_refused(self):
        self.write(rules(shell("a", "touch ran")))
        for name in (".", "no/such/directory"):
            self.refuse(73, f"--output: cannot write {name}: ", "plan.toml", "--output", name)
        self.assertFalse((self.folder / "ran").exists())
        done = self.weft("plan.toml", "--output", "/dev/full")
        self.assertEqual(done.returncode, 73)
        self.assertIn("--output: cannot write /dev/full: No space left", done.stderr)

    def test_an_output_does_not_replace_the_plan(self):
        plan = rules(rule("a"))
        done = self.weft(self.write(plan), "--output", "./plan.toml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--output: ./plan.toml is the file of PLAN, too", done.stderr)
        self.assertEqual((self.folder / "plan.toml").read_text(), plan)

    def test_a_dry_run_says_what_would_run_and_runs_nothing(self):
        plan = rules(shell("a", "touch ran", 'cost = "2s"'), rule("b", "command = ['true']", 'after = ["a"]'))
        done = self.weft(self.write(plan), "--dry-run", "--workers", "1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("2 rules on 1 worker would take about 2.01 s", done.stdout)
        self.assertEqual([row["id"] for row in self.again("--dry-run")["rules"]], ["a", "b"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["plan.toml"])

    def test_a_dry_run_has_as_many_workers_as_the_run_would_have(self):
        self.write(rules(rule("a")))
        done = self.weft("plan.toml", "--dry-run", env=environment(WEFT_WORKERS="7"))
        self.assertIn("1 rule on 7 workers would take", done.stdout)
        self.refuse(2, "WEFT_WORKERS", "plan.toml", "--dry-run", env=environment(WEFT_WORKERS="x"))

    def test_a_dry_run_writes_its_report_where_it_is_told_to(self):
        self.write(rules(rule("a")))
        done = self.weft("plan.toml", "--dry-run", "--format", "json", "--output", "report.json")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(ids(json.loads((self.folder / "report.json").read_text())), ["a"])

    def test_a_dry_run_leaves_a_damaged_profile_file_alone(self):
        self.write(rules(rule("a")))
        self.write("{", ".weft/profiles.json")
        self.assertEqual(self.weft("plan.toml", "--dry-run").returncode, 0)
        self.assertEqual(os.listdir(self.folder / ".weft"), ["profiles.json"])

    def test_names_of_batches_may_have_any_letters_and_the_table_stays_straight(self):
        names = ("x", "Gr\u00f6\u00dfe", "\u00e9" * 40)
        plan = "".join(f'[[batch]]\nid = "{i}"\nname = "{name}"\n' for i, name in enumerate(names))
        plan += rules(*(rule(f"r{i}", "shell = ':'", f'batch = "{i}"') for i in range(len(names))))
        done = self.weft(self.write(plan))
        table = done.stdout[done.stdout.index("Batch  Name") :].splitlines()
        self.assertEqual(len({len(line) for line in table}), 1, table)
        self.assertIn("\u00e9" * 30 + " ", done.stdout)

    def test_a_fixed_run_does_not_say_that_costs_are_not_learned(self):
        self.write(rules(rule("a")))
        for _ in range(2):
            done = self.weft("plan.toml", "--barriers", "--fixed", "--workers", "1")
        self.assertIn("1 worker, critical-path, barriers, fixed\n", done.stdout)

    def test_help(self):
        done = self.weft("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("--workers", "--resume", "Ctrl-C", "Exit status", "PLAN"):
            self.assertIn(word, done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)

    def on_a_terminal(self, **changes):
        """What a terminal gets from a run whose first rule waits until the bar has been drawn."""
        os.mkfifo(self.folder / "go")
        self.write(rules(shell("slow", "read -r line <go"), shell("bad", "exit 1", 'after = ["slow"]')))
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        child = subprocess.Popen(
            [WEFT, "run", "plan.toml"],
            stdin=subprocess.DEVNULL,
            stdout=slave,
            cwd=self.folder,
            env=environment(TERM="xterm") | changes,
        )
        os.close(slave)
        go = os.open(self.folder / "go", os.O_RDWR)
        waits_for_bar = changes.get("TERM") != "dumb"
        if not waits_for_bar:
            os.write(go, b"go\n")
        text = b""
        try:
            while chunk := os.read(master, 4096):
                text += chunk
                if waits_for_bar and b"1 running" in text:
                    os.write(go, b"go\n")
                    waits_for_bar = False
        except OSError:
            pass  # what Linux answers when the other end is closed
        os.close(master)
        os.close(go)
        self.assertEqual(child.wait(WATCHDOG), 1)
        return text.decode()

    def test_a_terminal_gets_a_bar_that_is_taken_away_again(self):
        text = self.on_a_terminal()
        self.assertRegex(text, r"-{40}(\x1b\[0m)?  0/2  1 running  ")
        self.assertRegex(text, r"  0  (\x1b\[0m)?slow ")
        last_bar = text.rindex("running")
        self.assertIn("\r\x1b[1A\x1b[J", text[last_bar:])
        self.assertIn("\x1b[31mFAIL   \x1b[0m  bad", text)
        self.assertNotIn("pass", text.split("plan: 2 rules")[0])

    def press_t(self, child, terminal, status):
        """What the terminal gets until the end, with t pressed once the bar is there."""
        go = os.open(self.folder / "go", os.O_RDWR)
        text = b""
        steps = [(b"1 running", lambda: os.write(terminal, b"t")),
                 (b"t: status\r\n", lambda: os.write(go, b"go\n"))]
        try:
            while chunk := os.read(terminal, 4096):
                text += chunk
                if steps and steps[0][0] in text:
                    steps.pop(0)[1]()
        except OSError:
            pass  # what Linux answers when the other end is closed
        os.close(terminal)
        os.close(go)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), status)
        self.assertEqual(steps, [], text)
        return text.decode()

    def test_the_key_t_prints_how_far_the_run_is(self):
        os.mkfifo(self.folder / "go")
        self.write(rules(shell("slow", "read -r line <go")))
        child, terminal = pty.fork()  # whose foreground it is in, as keys are for
        if child == 0:
            os.chdir(self.folder)
            os.execve(WEFT, [WEFT, "run", "plan.toml"], environment(TERM="xterm", NO_COLOR="1"))
        text = self.press_t(child, terminal, status=0)
        self.assertRegex(text, r"  0  slow +\d+\.\d s\r\n")  # a guess is no prediction

    def test_a_job_in_the_background_draws_nothing_until_it_is_brought_to_the_front(self):
        os.mkfifo(self.folder / "go")
        os.mkfifo(self.folder / "begun")
        self.write(rules(shell("slow", "echo begun >begun; read -r line <go"), shell("bad", "exit 1")))
        child, terminal = pty.fork()
        if child == 0:  # what a shell does for `weft run &`, and then for `fg`
            os.chdir(self.folder)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            arguments = [WEFT, "run", "plan.toml", "-j", "1"]
            job = os.posix_spawn(WEFT, arguments, environment(TERM="xterm", NO_COLOR="1"), setpgroup=0)
            while not os.path.exists("front"):
                time.sleep(0.01)
            os.tcsetpgrp(0, job)
            os._exit(os.waitstatus_to_exitcode(os.waitpid(job, 0)[1]))
        (self.folder / "begun").read_text()
        quiet, _, _ = select.select([terminal], [], [], 0.5)  # five ticks
        self.assertEqual(quiet, [])
        (self.folder / "front").touch()
        self.press_t(child, terminal, status=1)

    def test_a_terminal_that_vanishes_is_an_interrupt(self):
        os.mkfifo(self.folder / "begun")
        self.write(rules(shell("slow", "echo begun >begun; sleep 600")))
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(WEFT, [WEFT, "run", "plan.toml"], environment(TERM="xterm"))
        (self.folder / "begun").read_text()
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 128 + signal.SIGHUP)

    def test_no_color_removes_colour_and_nothing_else(self):
        text = self.on_a_terminal(NO_COLOR="1")
        self.assertNotRegex(text, "\x1b\\[[0-9;]*m")
        self.assertIn("0/2  1 running", text)

    def test_a_dumb_terminal_gets_lines(self):
        text = self.on_a_terminal(TERM="dumb")
        self.assertNotIn("\x1b", text)
        self.assertNotIn("running", text)
        self.assertIn("[1/2] pass     slow", text)


class Learning(RunTest):
    def test_what_is_learned_can_go_elsewhere(self):
        self.write(rules(rule("a"), rule("b")))
        self.assertEqual(self.weft("plan.toml").returncode, 0)
        base = (self.folder / ".weft/profiles.json").read_bytes()
        for part in ("1/2", "2/2"):  # one after the other, yet both see the same costs
            done = self.weft("plan.toml", "--shard", part, "--learn", f"shard-{part[0]}.json")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / ".weft/profiles.json").read_bytes(), base)
        seen = [
            rule
            for part in "12"
            for rule in json.loads((self.folder / f"shard-{part}.json").read_text())["profiles"]
        ]
        self.assertEqual(sorted(seen), ["a", "b"])

    def test_a_file_to_learn_into_that_is_something_else_is_refused_before_anything_runs(self):
        self.write(rules(shell("a", "touch ran")))
        for name in ("plan.toml", "."):
            done = self.weft("plan.toml", "--learn", name)
            self.assertEqual(done.returncode, 65, done.stderr)
            self.assertIn("--learn: ", done.stderr)
        self.assertFalse((self.folder / "ran").exists())


class StalledReader(RunTest):
    def test_does_not_keep_the_run_from_being_stopped(self):
        os.mkfifo(self.folder / "go")
        self.write(
            rules(
                shell("loud", "head -c 900000 /dev/zero | tr '\\0' x; exit 1"),
                shell("slow", "echo go >go; sleep 600"),
            )
        )
        child = subprocess.Popen(
            [WEFT, "run", "plan.toml", "-v", "-j", "1"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,  # which nobody reads
            cwd=self.folder,
            env=environment(),
        )
        with open(self.folder / "go") as go:
            go.read()
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(WATCHDOG), 128 + signal.SIGTERM)
        child.stdout.close()

    def test_does_not_keep_the_run_from_its_end(self):
        self.write(rules(shell("loud", "head -c 900000 /dev/zero | tr '\\0' x; exit 1"), rule("last")))
        child = subprocess.Popen(
            [WEFT, "run", "plan.toml", "-v", "-j", "1"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            cwd=self.folder,
            env=environment(),
        )
        runs = self.folder / ".weft" / "runs"
        deadline = time.monotonic() + WATCHDOG
        while not any('"done"' in log.read_text() for log in runs.glob("*.jsonl")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)  # nothing tells of the last line of the log
        out, _ = child.communicate(timeout=WATCHDOG)
        self.assertEqual(child.returncode, 1)
        self.assertIn(b"2 rules, 1 passed, 1 failed", out)


class Usage(RunTest):
    def test_an_unknown_option_is_named_and_the_nearest_one_suggested(self):
        self.write(rules(rule("a")))
        for given, meant in {
            "--bariers": "--barriers",
            "--worker": "--workers",
            "--outptu=x": "--output",
            "--fail_fast": "--fail-fast",
        }.items():
            name = given.split("=")[0]
            done = self.refuse(2, f"there is no option {name}; did you mean {meant}?", "plan.toml", given, "2")
            self.assertTrue(done.stderr.startswith("weft run: "), done.stderr)
        self.assertNotIn("did you mean", self.refuse(2, "--frobnicate", "plan.toml", "--frobnicate").stderr)
        self.refuse(2, "one argument too many: other.toml", "plan.toml", "other.toml")

    def test_an_unknown_command_is_named_and_the_nearest_one_suggested(self):
        done = subprocess.run([WEFT, "rum", "plan.toml"], capture_output=True, encoding="utf-8", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("weft: there is no command rum; did you mean run?", done.stderr)

    def test_numbers_of_workers_that_make_no_sense_are_refused(self):
        self.write(rules(rule("a")))
        for number in ("0", "-1", "51x", "abc", "1e9", "99999999999999999999", " 4x", " 4", "", "1025", "08"):
            with self.subTest(number=number):
                self.refuse(
                    2, "--workers: expected a whole number from 1 to 1024, not " + number,
                    "plan.toml", f"--workers={number}" if number else "--workers", *([] if number else [""]),
                )  # fmt: skip

    def test_values_that_make_no_sense_are_refused_with_their_option(self):
        self.write(rules(rule("a")))
        for arguments in (
            ("--timeout", "0s"), ("--timeout", "5"), ("--timeout", "-1s"), ("--load", "0"), ("--load", "nan"),
            ("--memory", "lots"), ("--memory", "0"), ("--policy", "magic"), ("--format", "xml"),
            ("--keep-runs", "0"), ("--shard", "0/3"), ("--shard", "4/3"), ("--shard", "1"), ("--shard", "/"),
            ("--shard", "1/ 3"), ("--shard", "1/3x"), ("--shard", "-1/3"), ("--shard", "1/99999999999999999999"),
            ("--shard", ""), ("--only", "nothing-like-this"), ("--skip", "nothing-like-this"), ("--tag", "none"),
        ):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.refuse(2, arguments[0], "plan.toml", *arguments)
        for option in ("--workers", "--timeout", "--profiles", "--only"):
            with self.subTest(option=option):
                self.refuse(2, option, "plan.toml", option)

    def test_options_that_contradict_each_other_are_refused(self):
        self.write(rules(rule("a")))
        for pair in (
            ("--fail-fast", "--keep-going"), ("--resume", "--rerun-failed"), ("--quiet", "--verbose"),
            ("--resume", "--only=a"), ("--resume", "--skip=a"), ("--resume", "--shard=1/2"), ("--resume", "--tag=x"),
        ):  # fmt: skip
            with self.subTest(pair=pair):
                done = self.refuse(2, "excludes", "plan.toml", *pair)
                for option in pair:
                    self.assertIn(option.split("=")[0], done.stderr)
        self.refuse(2, "--fixed requires --barriers", "plan.toml", "--fixed")
        self.refuse(2, "PLAN")

    def test_a_plan_that_is_no_file_ends_with_66(self):
        os.mkfifo(self.folder / "pipe")
        self.refuse(66, "cannot open none.toml: No such file", "none.toml")
        self.refuse(66, "cannot read .: it is a directory", ".")
        self.refuse(66, "cannot read pipe: it is a named pipe", "pipe")
        self.refuse(66, "cannot open", "x" * 100_000)

    def test_arguments_need_not_be_text(self):
        self.refuse(66, r"cannot open \xff\xfe.toml", os.fsdecode(b"\xff\xfe.toml"))
        name = os.fsdecode(b"\xff.toml")
        (self.folder / name).write_text(rules(rule("a")))
        self.assertEqual(self.weft(name).returncode, 0)
        self.refuse(2, r"--only: no rule of \xff.toml matches \x1b", name, "--only", "\x1b")

    def test_what_is_shown_of_arguments_does_no_harm_to_a_terminal(self):
        self.write(rules(rule("a")))
        for arguments in (("--workers", "\x1b[2J"), ("--policy", "\x1b[2J"), ("--\x1b[2J",), ("\x1b[2J",)):
            done = self.refuse(2, r"\x1b[2J", "plan.toml", *arguments)
            self.assertNotIn("\x1b", done.stderr)

    def test_the_longest_argument_that_there_can_be_is_no_problem(self):
        self.write(rules(rule("a")))
        self.refuse(2, "--only: no rule", "plan.toml", "--only", "x" * 131_000)
        self.refuse(2, "there is no option", "plan.toml", "--" + "x" * 131_000)

    def test_a_home_is_not_needed(self):
        self.write(rules(rule("a")))
        self.assertEqual(self.weft("plan.toml", env={"PATH": os.environ["PATH"]}).returncode, 0)
        # Without a PATH programs are looked for where the system has them.
        self.assertEqual(self.weft("plan.toml", env={}).returncode, 0)

    def test_what_cannot_be_looked_into_is_not_absent(self):
        prefix = self.as_nobody()
        checks = {
            "absent": "check = { absent = '**/*.orig' }",
            "inside": "check = { absent = 'secret/x.orig' }",
            "count": "check = { count = 'secret/*', max = 0 }",
            "lacks": "check = { lacks = 'never{3}', files = '**/*' }",
        }
        self.write(rules(*(rule(name, body) for name, body in checks.items())))
        (self.folder / "secret").mkdir(mode=0)
        self.addCleanup((self.folder / "secret").chmod, 0o755)
        self.folder.chmod(0o777)
        command = [*prefix, WEFT, "run", "plan.toml", "--format", "json"]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, encoding="utf-8", timeout=WATCHDOG, check=False
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        for each in json.loads(done.stdout)["rules"]:
            self.assertEqual(each["status"], "failed", each)
            self.assertIn("cannot look into secret", each["message"])
            self.assertIn("Permission denied", each["message"])

    def test_without_permission_it_ends_with_77(self):
        prefix = self.as_nobody()
        self.write(rules(rule("a")))
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)

        def attempt(*arguments):
            command = [*prefix, WEFT, "run", *arguments]
            return subprocess.run(
                command, cwd=self.folder, capture_output=True, encoding="utf-8", timeout=WATCHDOG, check=False
            )

        done = attempt("plan.toml")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn(".weft", done.stderr)
        self.assertIn("Permission denied", done.stderr)
        (self.folder / "plan.toml").chmod(0)
        done = attempt("plan.toml")
        self.assertIn(done.returncode, (66, 77))
        self.assertIn("cannot open plan.toml: Permission denied", done.stderr)


class Streams(RunTest):
    def closed(self, redirections, *arguments):
        command = f'exec "$@" {redirections}'
        return subprocess.run(
            ["/bin/sh", "-c", command, "sh", WEFT, "run", *arguments],
            cwd=self.folder,
            capture_output=True,
            encoding="utf-8",
            timeout=WATCHDOG,
            check=False,
        )

    def test_commands_come_from_standard_input(self):
        lines = "# a comment\n\ntouch plain\n  echo $((6 * 7)) > 'with shell'  \ntrue\ntrue\r\n"
        done = self.weft("-", "--format", "json", "--workers", "1", text=lines)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(
            ids(report), ["touch plain", "  echo $((6 * 7)) > 'with shell'  ", "true", "true #2"]
        )
        self.assertEqual((self.folder / "with shell").read_text(), "42\n")
        self.assertTrue((self.folder / "plain").exists())

    def test_a_command_of_standard_input_that_fails_fails_the_run(self):
        done = self.weft("-", text="false\nexit 4;\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("exit code 4", done.stdout)

    def test_no_commands_are_nothing_to_do(self):
        for text in ("", "\n \n", "# nothing\n"):
            done = self.weft("-", text=text)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("Nothing to do.", done.stdout)

    def test_bad_commands_are_refused(self):
        self.refuse(65, "standard input:2: has a NUL byte", "-", text="true\ntr\0ue\n")

    def test_standard_input_that_cannot_be_read_ends_with_66(self):
        for redirection in ("<&-", "<."):
            done = self.closed(redirection, "-")
            self.assertEqual((done.returncode, done.stdout), (66, ""), done.stderr)
            self.assertIn("cannot read standard input: ", done.stderr)

    def test_commands_have_an_input_that_is_empty_also_without_one_here(self):
        self.write(rules(rule("a", "command = ['cat']")))
        self.assertEqual(self.closed("<&-", "plan.toml").returncode, 0)

    def test_output_that_cannot_be_written_ends_with_74(self):
        self.write(rules(rule("a"), rule("b")))
        for redirection in (">&-", ">/dev/full", "<&- >&-"):
            for arguments in ((), ("--format", "json"), ("--dry-run",)):
                with self.subTest(redirection=redirection, arguments=arguments):
                    done = self.closed(redirection, "plan.toml", *arguments)
                    self.assertEqual((done.returncode, done.stdout), (74, ""))
                    self.assertIn("cannot write to standard output", done.stderr)

    def test_output_without_a_descriptor_goes_into_no_other_file(self):
        self.write(rules(shell("a", "echo said; echo more >&2; exit 1")))
        for redirection in (">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
            self.closed(redirection, "plan.toml", "-v")
        for path in [*self.logs(), self.folder / ".weft/profiles.json"]:
            for line in path.read_text().splitlines():
                json.loads(line) if path.suffix == ".jsonl" else None
            self.assertNotIn("Duration", path.read_text())
        json.loads((self.folder / ".weft/profiles.json").read_text())

    def test_a_reader_that_goes_away_changes_nothing_of_the_run(self):
        self.write(rules(*(shell(f"r{i}", f"touch ran{i}") for i in range(20))))
        reader, writer = os.pipe()
        os.close(reader)
        done = self.weft("plan.toml", stdout=writer)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(list(self.folder.glob("ran*"))), 20)

    def test_with_too_few_descriptors_it_ends_and_says_so_once(self):
        self.write(rules(rule("a")))
        for most in range(5, 20):  # a sanitizer needs some itself, so how it ends is left open
            limit = lambda most=most: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            done = self.weft("plan.toml", preexec_fn=limit)
            self.assertNotIn("terminate called", done.stderr)
            self.assertNotIn("weft: weft: ", done.stderr)

    def test_rules_do_not_inherit_descriptors(self):
        self.write(rules(shell("a", "ls /proc/self/fd | wc -l | grep -qx 4")))  # ls itself opens one
        with open(self.folder / "plan.toml", "rb") as extra:
            done = self.weft("plan.toml", pass_fds=[extra.fileno()])
        self.assertEqual(done.returncode, 0, done.stdout)


class Plans(RunTest):
    def test_plans_that_make_no_sense_are_refused_with_their_place_and_key(self):
        deep = "x = " + "[" * 10_000 + "]" * 10_000
        cases = {
            "\0\0\0": "plan.toml:1:1: this is no TOML",
            "[[rule]\n": "plan.toml:1:8: this is no TOML",
            '{"rules": []}': "plan.toml:1:1: this is no TOML",
            deep: "nested value depth",
            rules('id = "a"\nid = "b"'): "plan.toml:3:6: this is no TOML",
            rules(rule("a"), 'idd = "b"\ncommand = ["true"]'): 'rule: idd: there is no such key; did you mean "id"?',
            "rules = []": 'plan.toml:1:1: rules: there is no such key; did you mean "rule"?',
            "[plan]\nnames = 'x'": 'plan.toml:2:1: plan: names: there is no such key; did you mean "name"?',
            "rule = 1": "plan.toml:1:8: rule: must be a list: write [[rule]]",
            rules("id = 1\nshell = 'true'"): "plan.toml:2:6: rule: id: must be a text",
            rules("shell = 'true'"): "rule: id: is missing",
            rules(rule("")): "id: is missing",
            rules(rule("a\\u001b")): r'"a\x1b": id: has a control character',
            rules(rule("x" * 4096)): "id: is longer than 1024 bytes",
            rules(rule("a"), rule("a")): '"a": id: is the id of another rule too',
            rules(rule("a", "command = ['true']", "after = ['a']")): 'plan.toml:4:9: "a": after: comes after itself',
            rules(rule("a", "shell = ':'", "after = ['b']"), rule("b", "shell = ':'", "after = ['a']")): "a -> b -> a",
            rules(rule("a", "shell = ':'", "after = ['bb']"), rule("bbb")): '"a": after: there is no rule or batch "bb"',
            rules(rule("a", "batch = 'none'\nshell = ':'")) + "[[batch]]\nid = 'some'": '"a": batch: ',
            rules('id = "a"'): '"a": command: is missing',
            rules(rule("a", "command = []")): '"a": command: is empty',
            rules(rule("a", "command = ['']")): '"a": command: has no program',
            rules(rule("a", "command = 'ls -l'")): 'shell = "ls -l"',
            rules(rule("a", "command = ['a\\u0000b']".replace("'", '"'))): '"a": command: has a NUL byte',
            rules(rule("a", "command = ['ls']\nshell = 'ls'")): "a rule has one of command, shell",
            rules(rule("a", "check = { exist = 'x' }")): 'did you mean "exists"?',
            rules(rule("a", "check = { matches = '(', files = 'x' }")): "is no regular expression",
            rules(shell("a", ":", "timeout = '0s'")): 'plan.toml:4:11: "a": timeout: must be more than 0',
            rules(shell("a", ":", "timeout = '-1s'")): '"a": timeout: must be a duration',
            rules(shell("a", ":", "timeout = 30")): '"a": timeout: must be a duration',
            rules(shell("a", ":", "timeout = '99999999999999h'")): '"a": timeout: must be a duration',
            rules(shell("a", ":", "retries = 1e999")): "plan.toml:4:",
            rules(shell("a", ":", "retries = nan")): '"a": retries: must be a whole number between 0 and 100',
            rules(shell("a", ":", "retries = -1")): '"a": retries: must be',
            rules(shell("a", ":", "retries = 99999999999999999999")): "plan.toml:4:",
            rules(shell("a", ":", "weight = '2'")): '"a": weight: must be a whole number between 1 and 1024',
            rules(shell("a", ":", "env = { 'A=B' = '1' }")): '"a": env: "A=B" is no name of a variable',
            rules(shell("a", ":", "env = { A = 1 }")): '"a": env.A: must be a text',
            rules(shell("a", ":", "severity = 'maybe'")): '"a": severity: must be "fail" or "warn"',
        }  # fmt: skip
        for plan, reason in cases.items():
            with self.subTest(plan=plan[:80]):
                done = self.refuse(65, reason, self.write(plan))
                self.assertIn("plan.toml:", done.stderr)
        self.assertFalse((self.folder / ".weft").exists())

    def test_bytes_that_are_no_text_are_refused(self):
        for plan in (b'[[rule]]\nid = "\xff"\nshell = ":"\n', b"\xff\xfe[\0"):
            self.refuse(65, "this is no TOML", self.write(plan))

    def test_a_huge_plan_is_refused(self):
        with open(self.folder / "plan.toml", "wb") as plan:
            plan.truncate(100 << 20)
        self.refuse(65, "plan.toml: is larger than 64.0 MiB", "plan.toml")

    def test_a_plan_cut_off_anywhere_is_run_or_refused(self):
        whole = rules(rule("a"), shell("b", "true", 'after = ["a"]', 'timeout = "5s"')).encode()
        for length in range(0, len(whole), 3):
            done = self.weft(self.write(whole[:length]), "--no-profiling")
            self.assertIn(done.returncode, (0, 65), done.stderr)

    def test_plans_that_need_nothing_done_say_so(self):
        for plan in (b"", b" \n\t\n", b"\xef\xbb\xbf", b"[plan]\nname = 'plan'\n", b"[[batch]]\nid = 'a'\n"):
            done = self.weft(self.write(plan))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, "\nplan: 0 rules, 0 passed\nNothing to do.\n")

    def test_names_may_be_unusual(self):
        name = "a/b ünï 🧵"
        report = self.run_plan("\ufeff" + rules(rule(name), rule("b", "command = ['true']", f'after = ["{name}"]')))
        self.assertEqual(statuses(report), {name: "passed", "b": "passed"})

    def test_commands_that_cannot_start_fail_and_say_why(self):
        self.write("no program", "text")
        cases = {
            "./text": "it is not executable; chmod +x it",
            "./.": "it is a directory",
            "no-such-program": "not found in PATH",
            "./none": "no such file",
        }
        plan = rules(*(rule(f"r{i}", f"command = ['{name}']") for i, name in enumerate(cases)))
        report = self.run_plan(plan, status=1)
        for each, reason in zip(report["rules"], cases.values(), strict=True):
            self.assertEqual(each["status"], "failed")
            self.assertIn(reason, each["message"])

    def test_a_directory_that_is_missing_is_named(self):
        report = self.run_plan(rules(rule("a", "command = ['true']", "cwd = 'none'")), status=1)
        self.assertIn('"none" does not exist; make it, or correct cwd', report["rules"][0]["message"])

    def test_rules_happen_beside_the_plan_or_where_it_says(self):
        (self.folder / "sub/inner").mkdir(parents=True)
        here = rules(shell("a", "touch here"), shell("b", "touch here", 'cwd = "inner"'))
        self.write(here, "sub/plan.toml")
        self.assertEqual(self.weft("sub/plan.toml").returncode, 0)
        self.assertTrue((self.folder / "sub/here").exists())
        self.assertTrue((self.folder / "sub/inner/here").exists())
        self.run_plan("[plan]\ncwd = 'sub/inner'\n" + rules(shell("c", "touch there")))
        self.assertTrue((self.folder / "sub/inner/there").exists())

    def test_a_command_finds_its_rule_and_its_run_in_its_environment(self):
        report = self.run_plan(rules(shell("a b", 'echo "$WEFT_RULE,$WEFT_RUN" >names')))
        self.assertEqual((self.folder / "names").read_text(), f"a b,{report['run']}\n")

    def test_a_timeout_kills_the_rule_and_what_it_started(self):
        plan = rules(shell("a", "sleep 1000 & echo $! >child; wait", 'timeout = "2s"'))
        report = self.run_plan(plan, status=1)
        self.assertEqual(statuses(report), {"a": "timed_out"})
        self.assertFalse(is_alive(int((self.folder / "child").read_text())))

    def test_retries_make_a_rule_flaky(self):
        plan = rules(shell("a", "test -e once || { touch once; exit 1; }", "retries = 2", 'retry_delay = "0s"'))
        report = self.run_plan(plan)
        self.assertEqual((statuses(report), report["rules"][0]["attempts"]), ({"a": "flaky"}, 2))


class Choosing(RunTest):
    PLAN = rules(
        rule("base"),
        rule("left", "shell = ':'", 'after = ["base"]', 'tags = ["quick"]'),
        rule("right", "shell = ':'", 'after = ["base"]'),
        rule("top", "shell = ':'", 'after = ["left", "right"]', 'tags = ["slow", "quick"]'),
        rule("alone", "shell = ':'"),
    )

    def test_only_brings_what_is_needed(self):
        self.assertEqual(ids(self.run_plan(self.PLAN, "--only", "l*")), ["base", "left"])
        self.assertEqual(ids(self.again("--only", "alone", "--only", "right")), ["base", "right", "alone"])

    def test_skip_leaves_out_and_what_follows_does_not_wait(self):
        self.assertEqual(ids(self.run_plan(self.PLAN, "--skip", "{left,base}")), ["right", "top", "alone"])
        self.assertEqual(ids(self.again("--only", "top", "--skip", "right")), ["base", "left", "top"])

    def test_tags_choose(self):
        self.assertEqual(ids(self.run_plan(self.PLAN, "--tag", "slow")), ["base", "left", "right", "top"])
        self.assertEqual(ids(self.again("--tag", "quick", "--skip", "top")), ["base", "left", "right"])

    def test_shards_cover_everything_and_share_only_what_others_need(self):
        plan = self.PLAN + rules(*(rule(f"r{i}", "command = ['true']", f'cost = "{i + 1}s"') for i in range(30)))
        parts = [ids(self.run_plan(plan, "--shard", f"{i}/3", "--no-profiling")) for i in (1, 2, 3)]
        together = sorted(sum(parts, []))
        self.assertEqual(set(together), {"base", "left", "right", "top", "alone"} | {f"r{i}" for i in range(30)})
        self.assertEqual(len(together), 35)
        cost = [sum(int(name[1:]) + 1 for name in part if name[0] == "r" and name != "right") for part in parts]
        self.assertLessEqual(max(cost) - min(cost), 30)
        self.assertEqual(ids(self.run_plan(plan, "--shard", "1/1", "--no-profiling")), ids(self.run_plan(plan)))

    def test_fail_fast_begins_nothing_after_a_failure(self):
        plan = rules(rule("bad", "command = ['false']"), *(rule(f"r{i}") for i in range(5)))
        report = self.run_plan(plan, "--fail-fast", "--workers", "1", "--policy", "fifo", status=1)
        self.assertEqual((report["ending"], report["not_run_count"]), ("failed_fast", 5))
        self.assertEqual(self.run_plan(plan, "--keep-going", "--workers", "1", status=1)["passed_count"], 5)

    def test_barriers_run_one_batch_after_another(self):
        plan = rules(*(shell(f"{b}{i}", f"echo {b} >>order", f'batch = "{b}"') for b in "xy" for i in range(6)))
        report = self.run_plan(plan, "--barriers", "--workers", "8")
        self.assertEqual(self.lines_of("order"), ["x"] * 6 + ["y"] * 6)
        self.assertEqual((report["barriers"], report["batch_workers"]), (True, [4, 4]))
        self.assertEqual(self.again("--barriers", "--fixed", "--workers", "8")["batch_workers"], [8, 8])

    def test_every_policy_runs_everything(self):
        for policy in ("critical-path", "stealing", "largest-first", "fifo"):
            report = self.run_plan(self.PLAN, "--policy", policy)
            self.assertEqual((report["policy"], report["passed_count"]), (policy, 5))

    def test_what_failed_can_be_run_again_as_often_as_needed(self):
        plan = rules(
            shell("good", "echo good >>ran"),
            shell("bad", "echo bad >>ran; test -e mended", 'after = ["good"]'),
            shell("next", "echo next >>ran", 'after = ["bad"]'),
        )
        self.run_plan(plan, status=1)
        self.assertEqual(ids(self.again("--rerun-failed", status=1)), ["bad", "next"])
        self.assertEqual(ids(self.again("--rerun-failed", status=1)), ["bad", "next"])
        (self.folder / "mended").touch()
        self.assertEqual(ids(self.again("--rerun-failed")), ["bad", "next"])
        self.assertEqual(self.lines_of("ran"), ["good", "bad", "bad", "bad", "bad", "next"])
        self.assertEqual(ids(self.again("--rerun-failed")), [])

    def test_there_must_be_a_run_to_go_on_from(self):
        self.write(rules(rule("a")))
        for option in ("--resume", "--rerun-failed"):
            self.refuse(66, f"{option}: .weft/runs has no run of plan.toml", "plan.toml", option)
        self.weft("plan.toml")
        self.refuse(66, "--resume: the last run of plan.toml has come to its end", "plan.toml", "--resume")

    def test_a_run_that_takes_too_long_is_ended_and_can_go_on(self):
        plan = rules(rule("quick"), shell("slow", "test -e quickly || exec sleep 1000", 'after = ["quick"]'))
        report = self.run_plan(plan, "--timeout", "400ms", status=1)
        self.assertEqual((report["ending"], report["not_run_count"]), ("out_of_time", 1))
        (self.folder / "quickly").touch()
        self.assertEqual(statuses(self.again("--resume")), {"quick": "passed", "slow": "passed"})

    def test_old_logs_are_forgotten(self):
        self.write(rules(rule("a")))
        for _ in range(4):
            self.weft("plan.toml", "--keep-runs", "2")
        self.assertEqual(len(self.logs()), 2)

    def test_files_that_are_no_logs_stay(self):
        self.write(rules(rule("a")))
        for number in range(5):
            self.write("{}", f"data/{number}.jsonl")
        self.weft("plan.toml", "--runs", "data", "--keep-runs", "1")
        self.assertEqual(len(list((self.folder / "data").glob("?.jsonl"))), 5)


class Profiles(RunTest):
    FILE = ".weft/profiles.json"

    def setUp(self):
        super().setUp()
        self.write(rules(rule("a")))

    def test_a_file_that_is_damaged_is_set_aside_and_the_run_goes_on(self):
        self.weft("plan.toml")
        whole = (self.folder / self.FILE).read_bytes()
        for number, text in enumerate((b"", b"\0" * 4096, whole[:-2], whole[:20], b"[]", b"garbage"), 1):
            with self.subTest(text=text[:20]):
                self.write(text, self.FILE)
                done = self.weft("plan.toml")
                self.assertEqual(done.returncode, 0)
                self.assertIn(f"weft run: warning: {self.FILE}", done.stderr)
                self.assertIn(".corrupt-", done.stderr)
                self.assertEqual((self.folder / f"{self.FILE}.corrupt-{number}").read_bytes(), text)
                self.assertIn('"a"', (self.folder / self.FILE).read_text())

    def test_a_part_of_a_plan_tells_of_a_damaged_file_too(self):
        self.write("garbage", self.FILE)
        done = self.weft("plan.toml", "--shard", "1/1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("and learning starts anew", done.stderr)

    def test_a_file_of_a_newer_version_is_read_only(self):
        newer = json.dumps({"format": "weft-profiles", "version": 2, "profiles": {}})
        self.write(newer, self.FILE)
        done = self.weft("plan.toml")
        self.assertEqual(done.returncode, 0)
        self.assertIn("is of version 2, and this weft knows 1", done.stderr)
        self.assertEqual((self.folder / self.FILE).read_text(), newer)

    def test_entries_that_make_no_sense_are_left_out_and_the_others_kept(self):
        self.weft("plan.toml")
        known = json.loads((self.folder / self.FILE).read_text())
        entry = known["profiles"]["a"][""]
        known["profiles"]["other"] = {"": entry}
        bad = {"mean": -1, "n": 2**63, "m2": -1, "min": 5}
        for key, value in bad.items():
            known["profiles"][key] = {"": entry | {key: value}}
        self.write(json.dumps(known), self.FILE)
        done = self.weft("plan.toml")
        self.assertEqual(done.returncode, 0)
        for key in bad:
            self.assertIn(f'rule "{key}"', done.stderr)
        kept = json.loads((self.folder / self.FILE).read_text())["profiles"]
        self.assertIn("other", kept)
        self.assertEqual(kept["a"][""]["n"], 2)

    def test_a_link_is_not_followed(self):
        self.write("precious", "victim")
        (self.folder / ".weft").mkdir()
        (self.folder / self.FILE).symlink_to("../victim")
        done = self.weft("plan.toml")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn(f"{self.FILE} is a symbolic link", done.stderr)
        self.assertEqual((self.folder / "victim").read_text(), "precious")

    def test_what_is_no_file_is_refused(self):
        (self.folder / "directory").mkdir()
        os.mkfifo(self.folder / "pipe")
        for name in ("directory", "pipe"):
            done = self.weft("plan.toml", "--profiles", name)
            self.assertIn(done.returncode, (66, 73), done.stderr)
            self.assertIn(name, done.stderr)

    def test_without_profiling_there_is_no_file(self):
        self.assertEqual(self.weft("plan.toml", "--no-profiling").returncode, 0)
        self.assertFalse((self.folder / self.FILE).exists())


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Signals(RunTest):
    """The rule "slow" says that it runs, and waits until it is told to end."""

    PLAN = rules(
        shell("before", "echo before >>ran"),
        shell("slow", "echo slow >>ran; echo $$ >ready; read -r line <go", 'after = ["before"]'),
        shell("after", "echo after >>ran", 'after = ["slow"]'),
    )

    def setUp(self):
        super().setUp()
        self.write(self.PLAN)
        self.pipes = {}
        for name in ("ready", "go"):
            os.mkfifo(self.folder / name)
            self.pipes[name] = os.open(self.folder / name, os.O_RDWR)
            self.addCleanup(os.close, self.pipes[name])

    def start(self, *arguments, ignored=()):
        def set_signals():  # whoever runs the tests may ignore some
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

        child = subprocess.Popen(
            [WEFT, "run", "plan.toml", *arguments],
            preexec_fn=set_signals,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=self.folder,
            start_new_session=True,
        )
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.kill)
        ready, _, _ = select.select([self.pipes["ready"]], [], [], WATCHDOG)
        self.assertTrue(ready, "the rule did not begin")
        return child, int(os.read(self.pipes["ready"], 100))

    def interrupt(self, child):
        child.send_signal(signal.SIGINT)
        self.assertIn("interrupt again to kill it", child.stderr.readline())

    def let_go(self):
        os.write(self.pipes["go"], b"go\n")

    def resume(self):
        self.let_go()  # the second time nobody needs to wait
        return self.again("--resume")

    def test_one_interrupt_lets_what_runs_end(self):
        child, _ = self.start()
        self.interrupt(child)
        self.let_go()
        text, _ = child.communicate(timeout=WATCHDOG)
        self.assertEqual(child.returncode, 130)
        self.assertIn("2 passed, 1 not run", text)
        self.assertIn("To go on where it ended:  weft run plan.toml --resume", text)
        report = self.again("--resume")
        self.assertEqual(set(statuses(report).values()), {"passed"})
        self.assertEqual(self.lines_of("ran"), ["before", "slow", "after"])

    def test_two_interrupts_kill_what_runs(self):
        child, rule_pid = self.start()
        self.interrupt(child)
        child.send_signal(signal.SIGINT)
        text, _ = child.communicate(timeout=WATCHDOG)
        self.assertEqual(child.returncode, 130)
        self.assertIn("1 passed, 2 not run", text)
        self.assertFalse(is_alive(rule_pid))
        self.assertEqual(set(statuses(self.resume()).values()), {"passed"})
        self.assertEqual(self.lines_of("ran"), ["before", "slow", "slow", "after"])

    def test_a_request_to_end_kills_what_runs_at_once(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            child, rule_pid = self.start()
            child.send_signal(number)
            child.communicate(timeout=WATCHDOG)
            self.assertEqual(child.returncode, 128 + number)
            self.assertFalse(is_alive(rule_pid))
        self.assertEqual(set(statuses(self.resume()).values()), {"passed"})

    def test_a_signal_that_is_ignored_from_the_beginning_stays_ignored(self):
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        child, _ = self.start(ignored=numbers)
        for number in numbers:
            child.send_signal(number)
        self.let_go()
        text, problems = child.communicate(timeout=WATCHDOG)
        self.assertEqual((child.returncode, problems), (0, ""))
        self.assertIn("3 rules, 3 passed", text)

    def test_a_run_that_runs_cannot_be_resumed(self):
        child, _ = self.start()
        done = self.refuse(75, f"still runs, in process {child.pid}", "plan.toml", "--resume")
        self.assertIn("wait for its end", done.stderr)
        self.let_go()
        child.communicate(timeout=WATCHDOG)
        self.assertEqual(child.returncode, 0)

    def test_what_a_killed_program_left_running_is_killed_before_its_rule_runs_again(self):
        child, rule_pid = self.start()
        child.kill()
        child.wait(WATCHDOG)
        self.assertTrue(is_alive(rule_pid))
        child, _ = self.start("--resume")
        self.assertFalse(is_alive(rule_pid))
        self.let_go()
        _, warnings = child.communicate(timeout=WATCHDOG)
        self.assertIn("that the interrupted run had left running", warnings)
        self.assertEqual(self.lines_of("ran"), ["before", "slow", "slow", "after"])

    def test_a_dry_run_of_a_resumption_shows_what_is_left(self):
        child, _ = self.start()
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=WATCHDOG)
        self.assertEqual(ids(self.again("--resume", "--dry-run")), ["slow", "after"])

    def test_a_run_that_goes_on_in_another_way_says_so(self):
        child, _ = self.start()
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=WATCHDOG)
        self.let_go()
        report = self.again("--resume", "--policy", "fifo", "--barriers", "--fixed")
        self.assertEqual(
            (report["policy"], report["barriers"], report["mode"]), ("fifo", True, "fixed")
        )

    def test_a_part_of_a_plan_is_resumed_as_that_part(self):
        child, _ = self.start("--only", "slow")
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=WATCHDOG)
        self.assertEqual(statuses(self.resume()), {"before": "passed", "slow": "passed"})

    def test_a_plan_that_has_changed_is_not_resumed(self):
        child, _ = self.start()
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=WATCHDOG)
        self.write(self.PLAN + rules(rule("new")))
        self.refuse(65, "the plan has got or lost rules", "plan.toml", "--resume")
        self.write(self.PLAN.replace("echo after", "echo later"))
        self.refuse(65, 'the rule "after" was changed', "plan.toml", "--resume")


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
