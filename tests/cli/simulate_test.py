#!/usr/bin/env python3
"""weft simulate, from outside: tests/cli/simulate_test.py WEFT [unittest arguments]"""

import json
import os
import pty
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = "weft"
HEADER = "time_s,score,outcomes\n"
KEYS = ["time_s", "score", "zone", "target", "current", "reason", "gate", "next_move_s"]


def weft(*arguments, text=None, environment=None):
    variables = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    return subprocess.run(
        [WEFT, *arguments],
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        env=variables | (environment or {}),
    )


class Model:
    """The decision table, written down a second time, in seconds and without a thought for speed."""

    def __init__(self, low, high, up, down):
        self.low, self.high, self.up, self.down = low, high, up, down
        self.half = max(low, high // 2)
        self.current = self.half
        self.changed = self.sampled = 0
        self.decreased = self.wanted = None
        self.outcomes = ""
        self.is_open = False

    def row(self, time, score, outcomes):
        for outcome in outcomes:
            self.outcomes = (self.outcomes + outcome)[-10:]
            if len(self.outcomes) == 10:
                failures = self.outcomes.count("-")
                self.is_open = failures >= 6 or (self.is_open and failures > 2)
        if score is not None:
            self.sampled = time
        zone = "none" if score is None else ["critical", "warning", "safe"][(score > 33) + (score > 66)]
        gate, wait = "none", None
        if self.is_open:
            target, reason = self.low, "circuit_open"
        elif score is None and time - self.sampled <= 120:
            target, reason, gate = self.current, "health_timeout", "hold"
        elif score is None:
            target, reason = self.half, "health_stale"
        else:
            target = {"critical": self.low, "warning": self.half, "safe": self.high}[zone]
            reason = "health_" + zone
        if gate != "hold":
            at_once = reason in ("circuit_open", "health_critical")
            gate, wait = self.move(time, target, at_once)
        return dict(zip(KEYS, (time, score, zone, target, self.current, reason, gate, wait)))

    def move(self, time, target, at_once):
        if target > self.current:
            self.wanted = time if self.wanted is None else self.wanted
            opens = max(self.changed, self.wanted) + self.up
            if time < opens:
                return "up", opens - time
            self.current = min(target, self.current + max(1, self.current // 2))
            self.changed = time
            return "none", None
        self.wanted = None
        if target < self.current:
            opens = -1 if self.decreased is None else self.decreased + self.down
            if time < opens and not at_once:
                return "down", opens - time
            self.current = target
            self.changed = self.decreased = time
        return "none", None


class Simulate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-simulate-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, text, name="trace.csv"):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def simulate(self, rows, *options):
        """The decisions for a trace that must be fine."""
        text = rows if isinstance(rows, bytes) else HEADER + rows
        done = weft("simulate", "health_zones", self.write(text), *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def refuse(self, text, line, what):
        """A trace that must be refused, for what is wrong in a line."""
        path = self.write(text)
        done = weft("simulate", "health_zones", path)
        self.assertEqual(done.returncode, 65, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertTrue(done.stderr.startswith(f"{path}:{line}: "), done.stderr)
        self.assertIn(what, done.stderr)
        self.assertIn(", expected ", done.stderr)
        return done

    # --- Decisions ---------------------------------------------------------------------------

    def test_prints_one_object_a_row_with_the_keys_in_order(self):
        done = weft("simulate", "health_zones", self.write(HEADER + "0,80,+++\n10,timeout,\n"))
        self.assertEqual(
            done.stdout,
            '{"time_s":0,"score":80,"zone":"safe","target":10,"current":5,"reason":"health_safe",'
            '"gate":"up","next_move_s":300}\n'
            '{"time_s":10,"score":null,"zone":"none","target":5,"current":5,'
            '"reason":"health_timeout","gate":"hold","next_move_s":null}\n',
        )

    def test_agrees_with_the_decision_table_on_random_traces(self):
        seed = 4
        print(f"seed {seed}")
        dice = random.Random(seed)
        for number in range(60):
            high = dice.randint(1, 50)
            low = dice.randint(1, high)
            up, down = dice.randint(30, 600), dice.randint(30, 600)
            model = Model(low, high, up, down)
            time, health, rows, expected = 0, 80, [], []
            for _ in range(400):
                time += dice.choice([0, 1, 10, 30, 130])
                health = min(100, max(0, health + dice.randint(-15, 15)))
                score = None if dice.random() < 0.2 else health
                bad = dice.choice([0.1, 0.5, 0.9])
                outcomes = "".join("-" if dice.random() < bad else "+" for _ in range(dice.randint(0, 4)))
                rows.append(f"{time},{'timeout' if score is None else score},{outcomes}\n")
                expected.append(model.row(time, score, outcomes))
            options = ["--min", low, "--max", high, "--up", up, "--down", down]
            actual = self.simulate("".join(rows), *map(str, options))
            for row, (want, got) in enumerate(zip(expected, actual, strict=True)):
                self.assertEqual(want, got, f"trace {number}, row {row}, {options}")

    def test_starts_at_half_at_time_zero(self):
        first = self.simulate("299,100,\n300,100,\n", "--max", "9")[0]
        self.assertEqual((first["current"], first["gate"], first["next_move_s"]), (4, "up", 300))

    def test_outcomes_of_a_row_count_before_its_decision(self):
        rows = self.simulate("0,100,---------\n1,100,-\n2,100,++++++++\n")
        self.assertEqual([r["reason"] for r in rows], ["health_safe", "circuit_open", "health_safe"])
        self.assertEqual([r["current"] for r in rows], [5, 1, 1])

    def test_the_age_of_a_timeout_counts_from_the_last_score_or_from_zero(self):
        rows = self.simulate("120,timeout,\n121,timeout,\n200,50,\n320,timeout,\n321,timeout,\n")
        self.assertEqual(
            [r["reason"] for r in rows],
            ["health_timeout", "health_stale", "health_warning", "health_timeout", "health_stale"],
        )

    def test_a_hold_does_not_restart_the_wait_for_a_raise(self):
        rows = self.simulate("0,90,\n290,90,\n299,timeout,\n300,90,\n")
        self.assertEqual([r["current"] for r in rows], [5, 5, 5, 7])

    def test_fractions_of_a_second_come_back_as_such(self):
        rows = self.simulate("0.5,90,\n12.25,90,\n")
        self.assertEqual([r["time_s"] for r in rows], [0.5, 12.25])
        self.assertEqual([r["next_move_s"] for r in rows], [300, 288.25])

    def test_stale_settings_can_be_tried(self):
        rows = "0,90,\n11,timeout,\n"
        for policy, target in (("half", 5), ("hold", 5), ("min", 2)):
            last = self.simulate(
                rows, "--min", "2", "--stale-after", "10", "--stale-policy", policy
            )[-1]
            self.assertEqual((last["reason"], last["target"]), ("health_stale", target))

    # --- The file ----------------------------------------------------------------------------

    def test_a_byte_order_mark_crlf_spaces_blank_lines_and_a_missing_last_newline_are_fine(self):
        text = b"\xef\xbb\xbftime_s, score ,outcomes\r\n\r\n 0 ,\t80, +- \r\n\n10,42,"
        self.assertEqual([r["score"] for r in self.simulate(text)], [80, 42])

    def test_a_trace_without_rows_has_no_decisions(self):
        self.assertEqual(self.simulate(""), [])

    def test_reads_standard_input(self):
        done = weft("simulate", "health_zones", "-", text=HEADER + "0,80,\n1,bad,\n")
        self.assertEqual(done.returncode, 65)
        self.assertEqual(json.loads(done.stdout)["score"], 80)
        self.assertTrue(done.stderr.startswith("standard input:3: "), done.stderr)

    def test_a_huge_trace_is_read_as_it_goes(self):
        rows = 20_000 if os.environ.get("WEFT_SANITIZE") else 200_000
        path = self.write(HEADER + "".join(f"{i},{i % 101},+\n" for i in range(rows)))
        command = ["/bin/sh", "-c", 'ulimit -v 200000; exec "$@"', "sh", WEFT]
        if os.environ.get("WEFT_SANITIZE"):
            command = [WEFT]  # sanitizers need address space without end
        done = subprocess.run(
            [*command, "simulate", "health_zones", path], capture_output=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(b"\n"), rows)

    def test_bad_scores_are_refused(self):
        for score in ("101", "-1", "NaN", "nan", "33.5", "80.0", "+80", "1e1", "", "ok", "Timeout"):
            with self.subTest(score=score):
                self.refuse(HEADER + f"0,50,\n5,{score},\n", 3, f'score is "{score}"')

    def test_bad_times_are_refused(self):
        for time in ("", "x", "-1", "nan", "inf", "1e5", "1000000001", "1 2", "0x10"):
            with self.subTest(time=time):
                self.refuse(HEADER + f"{time},50,\n", 2, f'time_s is "{time}"')

    def test_time_that_goes_back_is_refused_and_time_that_stands_is_not(self):
        self.refuse(HEADER + "20,50,\n19.5,50,\n", 3, "time_s goes back from 20 to 19.5")
        self.assertEqual(len(self.simulate("20,50,\n20,50,\n")), 2)

    def test_bad_outcomes_are_refused(self):
        self.refuse(HEADER + "0,50,+x-\n", 2, 'outcomes is "+x-"')

    def test_rows_with_too_few_or_too_many_fields_are_refused(self):
        self.refuse(HEADER + "0,50\n", 2, "2 fields, expected 3")
        self.refuse(HEADER + "0,50,+,9\n", 2, "4 fields, expected 3")
        self.refuse(HEADER + "zero\n", 2, "1 field, expected 3")

    def test_a_missing_or_wrong_header_is_refused(self):
        self.refuse("0,50,\n", 1, "the header is")
        self.refuse("time,score\n0,50\n", 1, "expected time_s,score,outcomes")
        self.refuse("", 1, "the trace is empty")
        self.refuse("\n\n", 1, "the trace is empty")

    def test_lines_count_as_an_editor_counts_them(self):
        self.refuse(HEADER + "\n\r\n0,50,\n\n1,bad,\n", 6, 'score is "bad"')

    def test_binary_rubbish_and_endless_lines_are_refused_without_harm_to_the_terminal(self):
        done = self.refuse(HEADER.encode() + b"0,\x1b[2J\x00\xff,\n", 2, r'score is "\x1b[2J\x00\xff"')
        self.assertNotIn("\x1b", done.stderr)
        self.refuse(HEADER + "0,50," + "+" * 2_000_000 + "\n", 2, "the line is longer than")
        self.refuse(HEADER + "9" * 1000 + ",1,\n", 2, "9" * 40 + "…")

    def test_rows_before_a_bad_one_are_answered(self):
        done = self.refuse(HEADER + "0,50,\n1,60,\n2,101,\n", 4, 'score is "101"')
        self.assertEqual([json.loads(line)["score"] for line in done.stdout.splitlines()], [50, 60])

    def test_a_missing_trace_ends_with_66(self):
        for path in (str(self.folder / "none.csv"), str(self.folder)):
            done = weft("simulate", "health_zones", path)
            self.assertEqual((done.returncode, done.stdout), (66, ""))
            self.assertIn(f"cannot read {path}: ", done.stderr)

    def test_output_that_cannot_be_written_ends_with_74(self):
        path = self.write(HEADER + "0,50,\n")
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [WEFT, "simulate", "health_zones", path], stdout=full, stderr=subprocess.PIPE, check=False
            )
        self.assertEqual(done.returncode, 74)
        self.assertIn(b"cannot write", done.stderr)

    def test_a_trace_that_cannot_be_read_to_its_end_ends_with_74(self):
        done = weft("simulate", "health_zones", "/proc/self/mem")
        self.assertEqual((done.returncode, done.stdout), (74, ""))
        self.assertEqual(done.stderr, "/proc/self/mem:1: reading failed\n")

    # --- Usage -------------------------------------------------------------------------------

    def test_wrong_usage_ends_with_2_and_says_why(self):
        path = self.write(HEADER)
        wrong = {
            (): "expected a command",
            ("teleport",): "teleport",
            ("simulate",): "POLICY",
            ("simulate", "health_zones"): "TRACE",
            ("simulate", "magic", path): "magic not in {health_zones}",
            ("simulate", "health_zones", path, "--min", "0"): "--min",
            ("simulate", "health_zones", path, "--max", "51"): "--max",
            ("simulate", "health_zones", path, "--min", "7", "--max", "5"): "7 is above --max 5",
            ("simulate", "health_zones", path, "--up", "29"): "30 to 86400",
            ("simulate", "health_zones", path, "--down", "86401"): "30 to 86400",
            ("simulate", "health_zones", path, "--down", "soon"): "--down",
            ("simulate", "health_zones", path, "--stale-policy", "guess"): "--stale-policy",
            ("simulate", "health_zones", path, "--stale-policy", "HALF"): "HALF not in {half,hold,min}",
            ("simulate", "health_zones", path, "--stale-policy", "2"): "2 not in {half,hold,min}",
            ("simulate", "health_zones", path, "--max", "010"): "number from 1 to 50, not 010",
            ("simulate", "health_zones", path, "--max", "0x5"): "number from 1 to 50, not 0x5",
            ("simulate", "health_zones", path, "--max", "5.0"): "number from 1 to 50, not 5.0",
            ("simulate", "health_zones", path, "--max", ""): "number from 1 to 50, not",
            ("simulate", "health_zones", path, "--verbose"): "--verbose",
        }
        for arguments, reason in wrong.items():
            with self.subTest(arguments=arguments):
                done = weft(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(reason, done.stderr)

    def test_help_and_version(self):
        version = weft("--version")
        self.assertEqual(version.returncode, 0)
        self.assertRegex(version.stdout, r"^weft \d+\.\d+\.\d+\n$")
        overview = weft("--help").stdout
        self.assertIn("simulate", overview)
        self.assertLessEqual(max(map(len, overview.splitlines())), 80)
        text = weft("simulate", "--help")
        self.assertEqual((text.returncode, text.stderr), (0, ""))
        self.assertIn(
            "weft simulate health_zones monday.csv --min 1 --max 10 --up 300 --down 60", text.stdout
        )
        self.assertIn("time_s,score,outcomes", text.stdout)
        self.assertLessEqual(max(map(len, text.stdout.splitlines())), 100)
        self.assertEqual(text.stdout.count("limit, 1 to 50"), 2)
        self.assertIn("Age beyond which a score is void, 1 to 86400 s", text.stdout)

    # --- Plot --------------------------------------------------------------------------------

    def plot(self, rows, environment=None, options=()):
        path = self.write(HEADER + rows)
        return weft("simulate", "health_zones", path, "--plot", *options, environment=environment)

    def test_the_plot_is_80_columns_wide_and_plain_where_there_is_no_terminal(self):
        done = self.plot("".join(f"{i * 60},{90 if i < 40 else 20},\n" for i in range(60)))
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.splitlines()
        self.assertEqual(max(map(len, lines)), 80)
        self.assertNotIn("\x1b", done.stdout)
        for mark in "*#-":
            self.assertTrue(any(mark in line[6:] for line in lines if ":" not in line), mark)
        self.assertIn("0 s", lines[-1])
        self.assertIn("3540 s", lines[-1])

    def test_columns_sets_the_width_of_the_plot_within_reason(self):
        rows = "0,90,\n100,50,\n"
        for columns, width in (("120", 120), ("30", 30), ("5", 12), ("99999", 1000), ("wide", 80)):
            done = self.plot(rows, {"COLUMNS": columns})
            self.assertEqual(max(map(len, done.stdout.splitlines())), width, columns)

    def test_a_dip_shorter_than_a_column_is_drawn(self):
        rows = "".join(f"{i},{0 if i == 5000 else 100},\n" for i in range(10_000))
        bottom = [line for line in self.plot(rows).stdout.splitlines() if line.startswith("    0 ")]
        self.assertEqual(bottom[0].count("*"), 1)

    def test_a_dip_is_not_drawn_over_the_gap_that_follows_it(self):
        # The first three rows share a column.
        lines = self.plot("0,90,\n1,10,\n2,90,\n4000,90,\n").stdout.splitlines()
        stars = [line.count("*") for line in lines if "lowest" not in line]
        self.assertEqual([count for count in stars if count > 0], [73, 1])

    def test_a_target_below_the_limit_is_drawn_into_the_bar(self):
        # Up, down, and up again: the second way down is shut for a day.
        rows = "".join(f"{t},{50 if t in (500, 1000) else 90},\n" for t in range(0, 1001, 10))
        options = ("--max", "10", "--up", "30", "--down", "86400")
        decisions = self.simulate(rows, *options)
        limits = self.plot(rows, options=options).stdout.split("limit:")[1].splitlines()[1:-1]
        last = [line[79] if len(line) > 79 else " " for line in limits]
        current, target = decisions[-1]["current"], decisions[-1]["target"]
        self.assertEqual((current, target), (10, 5))
        self.assertEqual("".join(last), "#####-####")

    def test_the_top_of_the_limits_is_their_maximum(self):
        for highest in (10, 13, 25, 50):
            text = self.plot("0,90,\n10,90,\n", options=("--max", str(highest))).stdout
            top = text.split("limit:")[1].splitlines()[1]
            self.assertEqual(top.split()[0], str(highest))

    def test_rows_before_a_bad_one_are_plotted(self):
        done = self.plot("0,90,\n10,80,\n20,101,\n")
        self.assertEqual(done.returncode, 65)
        self.assertIn(':4: score is "101"', done.stderr)
        self.assertEqual(done.stdout, self.plot("0,90,\n10,80,\n").stdout)

    def test_scores_that_are_missing_and_traces_of_one_or_no_rows_are_drawn(self):
        self.assertIn("?", self.plot("0,timeout,\n").stdout.split("limit:")[0].splitlines()[-1])
        self.assertEqual(self.plot("7,50,\n").returncode, 0)
        self.assertEqual(self.plot("").stdout, "the trace has no rows\n")

    def on_a_terminal(self, environment):
        path = self.write(HEADER + "0,90,\n100,10,\n")
        master, slave = pty.openpty()
        variables = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
        child = subprocess.Popen(
            [WEFT, "simulate", "health_zones", path, "--plot"],
            stdout=slave,
            env=variables | environment,
        )
        os.close(slave)
        text = b""
        try:
            while chunk := os.read(master, 4096):
                text += chunk
        except OSError:
            pass  # what Linux answers when the other end is closed
        os.close(master)
        self.assertEqual(child.wait(60), 0)
        return text.decode()

    def test_a_terminal_gets_colours_unless_it_wants_none(self):
        self.assertTrue(re.search("\x1b\\[3[0-9]m", self.on_a_terminal({"TERM": "xterm"})))
        self.assertNotIn("\x1b", self.on_a_terminal({"NO_COLOR": "1"}))
        self.assertNotIn("\x1b", self.on_a_terminal({"TERM": "dumb"}))


if __name__ == "__main__":
    WEFT = sys.argv.pop(1)
    unittest.main()
