#!/usr/bin/env python3
"""weft report, from outside: tests/cli/report_test.py WEFT [unittest arguments]

With WEFT_UPDATE_GOLDEN=1 the expected texts in data/ are written anew.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = "weft"
WATCHDOG = 60
DATA = Path(__file__).parent / "data"
LOG = DATA / "20250102-030405.678-abcd.jsonl"


def environment(**changes):
    dropped = ("COLUMNS", "LINES", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "WEFT_WORKERS")
    return {k: v for k, v in os.environ.items() if k not in dropped} | changes


class ReportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-report-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def weft(self, *arguments, **changes):
        return subprocess.run(
            [WEFT, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            cwd=self.folder,
            env=environment(**changes),
            timeout=WATCHDOG,
            check=False,
        )

    def report(self, *arguments, status=0, **changes):
        done = self.weft("report", *arguments, **changes)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def assert_golden(self, name, text):
        path = DATA / name
        if os.environ.get("WEFT_UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        self.assertEqual(text, path.read_text(encoding="utf-8"))


class Text(ReportTest):
    def test_it_fits_terminals_of_three_widths(self):
        for columns in (40, 80, 200):
            text = self.report(LOG, "--all", COLUMNS=str(columns), LANG="C.UTF-8")
            self.assertLessEqual(max(map(len, text.splitlines())), columns)
            self.assert_golden(f"report-{columns}.txt", text)

    def test_without_utf8_it_is_drawn_in_ascii(self):
        text = self.report(LOG, "--timeline", "--efficiency", COLUMNS="60", LANG="C")
        self.assertTrue(text.isascii())
        self.assert_golden("report-ascii.txt", text)

    def test_charts_can_be_chosen(self):
        charts = {
            "--timeline": "Timeline",
            "--efficiency": "Efficiency",
            "--utilization": "Utilisation:",
            "--stealing": "Steals:",
            "--comparison": "Comparison",
        }
        for option, headline in charts.items():
            text = self.report(LOG, option)
            self.assertTrue(text.startswith(headline), text)
            for other in set(charts.values()) - {headline}:
                self.assertNotIn(other, text)

    def test_figures_are_those_of_the_log(self):
        text = self.report(LOG)
        self.assertIn("10 rules in 3 batches, 7 passed (1 flaky), 2 failed, 1 skipped", text)
        self.assertIn("Duration     5.455 s", text)
        ends = [e for e in map(json.loads, LOG.read_text().splitlines()) if e["event"] == "end"]
        again = [e for e in map(json.loads, LOG.read_text().splitlines()) if e["event"] == "again"]
        busy = sum(e["duration"] for e in ends + again)
        self.assertIn(f"{100 * busy / (4 * 5.455):.1f} % (", text)

    def test_a_run_without_steals_says_what_that_means(self):
        log = self.folder / "log.jsonl"
        log.write_text(LOG.read_text().replace(',"stolen_from":0', "").replace("stealing", "fifo"))
        self.assertIn("nothing to steal", self.report(log, "--stealing").replace("\n ", ""))


class Finding(ReportTest):
    def test_without_a_name_it_is_the_newest_run(self):
        self.assertIn("example: 10 rules", self.report("--runs", DATA))

    def test_a_run_can_be_named_by_the_beginning_of_its_id(self):
        self.assertIn("example: 10 rules", self.report("20250102", "--runs", DATA))

    def test_a_run_that_is_not_there_is_66_and_the_newest_are_named(self):
        problem = self.report("20240101", "--runs", DATA, status=66)
        self.assertIn("there is no run or file 20240101", problem)
        self.assertIn("20250102-030405.678-abcd", problem)

    def test_no_run_at_all_says_what_to_do(self):
        self.assertIn("run a plan first", self.report(status=66))
        self.assertIn("run a plan first", self.report("--runs", "nowhere", status=66))

    def test_a_foreign_file_is_65_with_its_line(self):
        for text in ("", "hello\n", "{}\n", "\x00\x01\n", "[" * 100_000 + "\n"):
            (self.folder / "foreign").write_text(text)
            problem = self.report("foreign", status=65)
            self.assertIn("foreign:1:", problem)
            self.assertNotIn("json.exception", problem)

    def test_a_directory_is_66_and_says_what_to_do(self):
        self.assertIn("give a log", self.report(self.folder, status=66))

    def test_a_newer_version_is_65_and_says_so(self):
        (self.folder / "new").write_text('{"event":"run","version":2}\n')
        self.assertIn("use a newer weft", self.report("new", status=65))

    def test_names_are_shown_without_control_characters(self):
        self.assertNotIn("\x1b", self.report("\x1b[31mred", status=66))


class Files(ReportTest):
    def test_two_options_cannot_have_one_file(self):
        log = self.folder / "log.jsonl"
        log.write_bytes(LOG.read_bytes())
        for options in (
            ("--html", "x", "--output", "x"),
            ("--trace", "x", "--html", "./x"),
            ("--output", "x", "--trace", self.folder / "x"),
            ("--output", "log.jsonl"),
        ):
            self.assertIn("give each its own", self.report(log, *options, status=2))
        self.assertEqual(log.read_bytes(), LOG.read_bytes())
        self.assertEqual(os.listdir(self.folder), ["log.jsonl"])
        self.report(LOG, "--trace", "/dev/null", "--html", "/dev/null")

    def test_who_asks_for_files_alone_gets_no_text(self):
        for options in (("--html", "a"), ("--trace", "a"), ("--html", "a", "--trace", "b")):
            done = self.weft("report", LOG, *options)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            self.assertIn("Written to a; open it ", done.stderr)
        self.assertIn("Timeline", self.report(LOG, "--trace", "a", "--timeline"))
        self.assertIn("::error", self.report(LOG, "--html", "a", "--format", "github"))

    def test_output_that_cannot_be_written_ends_with_74(self):
        for command in ("report", "explain"):
            arguments = [LOG] if command == "report" else ["lint", "--run", LOG]
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    [WEFT, command, *arguments], stdout=full, stderr=subprocess.PIPE, check=False
                )
            self.assertEqual(done.returncode, 74)
            self.assertIn(b"cannot write to standard output", done.stderr)
            self.assertNotIn(b"--output", done.stderr)  # which not every command has


class Ending(ReportTest):
    def ended(self, how):
        whole = LOG.read_text().splitlines(keepends=True)
        end = json.loads(whole[-1])
        last = json.dumps(end | {"ending": how}) + "\n" if how else ""
        (self.folder / "log").write_text("".join(whole[:-1]) + last)
        return self.report("log")

    def test_a_run_that_did_not_come_to_its_end_says_so(self):
        self.assertIn("\nWithout an end: it still runs, or was killed.\n", self.ended(None))
        self.assertIn("\nInterrupted.\n", self.ended("interrupted"))
        self.assertIn("\nOut of time.\n", self.ended("out_of_time"))
        self.assertIn("\nEnded at the first failure.\n", self.ended("failed_fast"))

    def test_a_run_without_rules_has_neither_timeline_nor_gap(self):
        (self.folder / "plan.toml").write_text("")
        self.assertEqual(self.weft("run", "plan.toml").returncode, 0)
        self.assertEqual(self.report("--all"), "plan: 0 rules, 0 passed\nNothing to do.\n")


class CutOff(ReportTest):
    def test_a_log_cut_at_any_byte_is_reported(self):
        whole = LOG.read_bytes()
        first_line = whole.index(b"\n") + 1
        cuts = {*range(first_line, len(whole), 97), first_line, len(whole) - 1}
        log = self.folder / "cut.jsonl"
        for length in sorted(cuts):
            log.write_bytes(whole[:length])
            text = self.report(log, "--all")
            self.assertIn("example: ", text, length)
        log.write_bytes(whole[: first_line - 1])
        self.assertIn("this is no event log", self.report(log, status=65))


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
