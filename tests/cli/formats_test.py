#!/usr/bin/env python3
"""The formats of reports, read by parsers of others: tests/cli/formats_test.py WEFT [unittest arguments]

JUnit XML is read by junitparser, TAP by Perl's TAP::Parser, SARIF by Microsoft's object model. The
workflow commands of GitHub and traces are read as their documentation says.
"""

import collections
import json
import os
import re
import subprocess
import sys
import unittest
import urllib.parse
import xml.etree.ElementTree

import run_test
from run_test import RunTest, rule, rules, shell

try:
    import attr
    import junitparser
    import sarif_om
except ImportError as missing:
    sys.exit(f"{missing}; tools/setup test installs what is needed for {sys.executable}")

Counts = collections.namedtuple("Counts", "total failed warned flaky skipped")


def counts_of_json(text):
    report = json.loads(text)
    return Counts(
        report["total_rules"],
        report["failed_count"],
        report["warned_count"],
        report["flaky_count"],
        report["skipped_count"] + report["not_run_count"],
    )


def counts_of_junit(text):
    suites = junitparser.JUnitXml.fromstring(text.encode())
    cases = [case for suite in suites for case in suite]
    kinds = collections.Counter(type(result).__name__ for case in cases for result in case.result)
    declared = (suites.tests, suites.failures, suites.errors, suites.skipped)
    seen = (len(cases), kinds["Failure"], kinds["Error"], kinds["Skipped"])
    if declared != seen:
        raise AssertionError(f"testsuites says {declared}, and has {seen}")
    for suite in suites:
        if suite.tests != len(list(suite)):
            raise AssertionError(f"{suite.name} says {suite.tests} tests")
    root = xml.etree.ElementTree.fromstring(text.encode())
    flaky = [case for case in root.iter("testcase") if case.find("flakyFailure") is not None]
    warned = [
        case for case in root.iter("testcase") if (case.findtext("system-out") or "").startswith("warning: ")
    ]
    return Counts(
        len(cases), kinds["Failure"] + kinds["Error"], len(warned), len(flaky), kinds["Skipped"]
    )


READ_TAP = r"""
use strict; use warnings; use TAP::Parser; use JSON::PP;
local $/; my $parser = TAP::Parser->new({ tap => <STDIN> });
my (@points, @blocks, $bailout);
while (my $result = $parser->next) {
  if ($result->is_test) {
    push @points, { map { $_ => '' . ($result->$_ // '') }
                    qw(ok number description directive explanation is_actual_ok) };
  } elsif ($result->is_yaml) {
    $points[-1]{yaml} = $result->data;
  } elsif ($result->is_bailout) {
    $bailout = $result->explanation;
  } elsif ($result->is_unknown) {
    die 'no TAP: ' . $result->raw;
  }
}
print JSON::PP->new->utf8->encode({ points => \@points, bailout => $bailout,
  plan => $parser->plan, skip_all => $parser->skip_all, errors => [ $parser->parse_errors ] });
"""


def read_tap(text):
    """Perl of Debian 12 knows versions up to 13, of which 14 is the clarification: a reader of the
    one reads the other, says the specification."""
    version, rest = text.split("\n", 1)
    if version != "TAP version 14":
        raise AssertionError(version)
    done = subprocess.run(
        ["perl", "-e", READ_TAP],
        input=f"TAP version 13\n{rest}".encode(),
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    read = json.loads(done.stdout)
    if read["errors"]:
        raise AssertionError(f"TAP::Parser says {read['errors']}")
    return read


def counts_of_tap(text):
    points = read_tap(text)["points"]
    failed = [p for p in points if p["ok"] == "not ok" and not p["directive"]]
    flaky = [p for p in points if p.get("yaml", {}).get("status") == "flaky"]
    by_directive = collections.Counter(p["directive"].upper() for p in points)
    return Counts(len(points), len(failed), by_directive["TODO"], len(flaky), by_directive["SKIP"])


def read_sarif(text):
    """The log as objects of sarif_om: a property that the schema lacks, or one that is missing,
    is an error."""
    inside = {
        "runs": sarif_om.Run, "tool": sarif_om.Tool, "driver": sarif_om.ToolComponent,
        "rules": sarif_om.ReportingDescriptor, "results": sarif_om.Result, "message": sarif_om.Message,
        "shortDescription": sarif_om.MultiformatMessageString,
        "fullDescription": sarif_om.MultiformatMessageString,
        "help": sarif_om.MultiformatMessageString, "locations": sarif_om.Location,
        "physicalLocation": sarif_om.PhysicalLocation, "artifactLocation": sarif_om.ArtifactLocation,
        "region": sarif_om.Region, "invocations": sarif_om.Invocation,
        "automationDetails": sarif_om.RunAutomationDetails,
        "toolExecutionNotifications": sarif_om.Notification,
    }  # fmt: skip

    def made(kind, value):
        names = {a.metadata["schema_property_name"]: a.name for a in attr.fields(kind)}
        return kind(**{names[key]: read(key, each) for key, each in value.items()})

    def read(key, value):
        if isinstance(value, list):
            return [read(key, each) for each in value]
        return made(inside[key], value) if isinstance(value, dict) else value

    return made(sarif_om.SarifLog, json.loads(text))


def counts_of_sarif(text):
    log = read_sarif(text)
    if (log.version, len(log.runs)) != ("2.1.0", 1):
        raise AssertionError(f"version {log.version}")
    run = log.runs[0]
    descriptors = run.tool.driver.rules
    levels = collections.defaultdict(set)
    for result in run.results:
        if descriptors[result.rule_index].id != result.rule_id:
            raise AssertionError(f"{result.rule_id} has the index of another rule")
        levels[result.level].add(result.rule_id)
        for location in result.locations or []:
            uri = location.physical_location.artifact_location.uri
            if not re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri.removeprefix("file://")):
                raise AssertionError(f"no URI: {uri}")
    if set(levels) - {"error", "warning", "note"}:
        raise AssertionError(f"levels {set(levels)}")
    return Counts(len(descriptors), len(levels["error"]), len(levels["warning"]), len(levels["note"]), None)


def read_commands(text):
    """As the runner does it: ::name key=value,key=value::data, each unescaped."""
    escapes = {"%25": "%", "%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ","}

    def unescaped(value, known):
        return re.sub("|".join(known), lambda match: escapes[match.group()], value)

    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        if not match:
            raise AssertionError(f"no command: {line}")
        properties = dict(pair.split("=", 1) for pair in match[2].split(","))
        if set(properties) - {"file", "line", "title"}:
            raise AssertionError(f"unknown properties: {line}")
        made = {key: unescaped(value, list(escapes)) for key, value in properties.items()}
        found.append((match[1], made, unescaped(match[3], ["%25", "%0D", "%0A"])))
    return found


def counts_of_github(text):
    commands = read_commands(text)
    titles = collections.defaultdict(set)
    for kind, properties, message in commands:
        flaky = kind == "warning" and message.startswith("flaky: ")
        titles["flaky" if flaky else kind].add(properties["title"])
    kind, _, message = commands[-1]
    if kind != "notice":
        raise AssertionError("the last command is no notice")
    number = collections.defaultdict(int)
    for amount, what in re.findall(r"(\d+) (rules|failed|warned|flaky|skipped|never began)", message):
        number[what] = int(amount)
    seen = tuple(len(titles[k]) for k in ("error", "warning", "flaky"))
    if seen != (number["failed"], number["warned"], number["flaky"]):
        raise AssertionError(f"{message}, but there are {seen}")
    return Counts(number["rules"], *seen, number["skipped"] + number["never began"])


READERS = {
    "junit": counts_of_junit,
    "tap": counts_of_tap,
    "sarif": counts_of_sarif,
    "github": counts_of_github,
}


def check_trace(text):
    """What the Trace Event Format demands of each phase, and Perfetto of slices and arrows."""
    document = json.loads(text)
    if document["displayTimeUnit"] not in ("ms", "ns"):
        raise AssertionError(document["displayTimeUnit"])
    needed = {
        "M": {"pid", "args"},
        "X": {"pid", "tid", "ts", "dur", "cat", "args"},
        "C": {"pid", "ts", "args"},
        "s": {"pid", "tid", "ts", "cat", "id"},
        "f": {"pid", "tid", "ts", "cat", "id", "bp"},
    }
    by_phase = collections.defaultdict(list)
    for event in document["traceEvents"]:
        missing = (needed[event["ph"]] | {"name"}) - set(event)
        if missing:
            raise AssertionError(f"{missing} are missing in {event}")
        for key in ("ts", "dur"):
            if not isinstance(event.get(key, 0), (int, float)) or event.get(key, 0) < 0:
                raise AssertionError(f"{key} in {event}")
        by_phase[event["ph"]].append(event)
    named = {e["tid"]: e["args"]["name"] for e in by_phase["M"] if e["name"] == "thread_name"}
    nanoseconds = lambda e, key: round(e[key] * 1000)
    tracks = collections.defaultdict(list)
    for event in by_phase["X"]:
        tracks[event["tid"]].append(
            (nanoseconds(event, "ts"), nanoseconds(event, "ts") + nanoseconds(event, "dur"), event["name"])
        )
    if set(tracks) - set(named):
        raise AssertionError(f"tracks without a name: {set(tracks) - set(named)}")
    for slices in tracks.values():
        slices.sort()
        for (_, end, one), (begin, _, other) in zip(slices, slices[1:]):
            if begin < end:
                raise AssertionError(f"{one} and {other} overlap")

    def slice_at(event):
        time = nanoseconds(event, "ts")
        return next(name for begin, end, name in tracks[event["tid"]] if begin <= time < end)

    starts = {e["id"]: e for e in by_phase["s"]}
    if len(starts) != len(by_phase["s"]) or len(by_phase["s"]) != len(by_phase["f"]):
        raise AssertionError("arrows without one of their ends")
    arrows = []
    for end in by_phase["f"]:
        start = starts[end["id"]]
        if (start["cat"], start["name"], end["bp"]) != (end["cat"], end["name"], "e"):
            raise AssertionError(f"{start} and {end} are no arrow")
        arrows.append((start["cat"], slice_at(start), slice_at(end)))
    for event in by_phase["C"]:
        if not all(isinstance(value, (int, float)) for value in event["args"].values()):
            raise AssertionError(f"no counter: {event}")
    return named, by_phase, arrows


HOSTILE = (
    "[plan]\nname = 'x]]> \"&<'\n"
    '[[batch]]\nid = "b, c: d"\nname = "\\n::error::x"\n'
    + rules(
        shell(r"a ]]> \"q\" '<&>", r"printf '\377\000\033[31m ]]> <x>\r\n  \n# y\n'; exit 2", r'name = "two\nlines # SKIP"', 'batch = "b, c: d"'),
        shell("\U0001f600 100%, x::y", "exit 3", r'name = "\u0001\uffff"'),
        shell("large", "head -c 1000000 /dev/zero | tr '\\0' x; exit 1"),
        shell("many lines", "seq 1 200000; exit 1"),
        shell("killed", "kill -9 $$"),
        shell("late", "sleep 60", 'timeout = "10ms"'),
        shell("warned # TODO", "exit 1", 'severity = "warn"'),
        shell("shaky", "test -e 'again' || { touch again; exit 1; }", "retries = 1", 'retry_delay = "1ms"'),
        shell("hopeless", "exit 1", "retries = 2", 'retry_delay = "1ms"'),
        rule("todo", "check = { lacks = 'TODO', files = '*.txt' }"),
        rule("fine"),
        rule("next", "command = ['true']", 'after = ["late"]'),
    )
)  # fmt: skip


class FormatTest(RunTest):
    def setUp(self):
        super().setUp()
        self.write("one\nTODO\n", "a, b%\u00e9.txt")

    def report(self, *arguments):
        done = subprocess.run(
            [run_test.WEFT, "report", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=self.folder,
            env=run_test.environment(),
            timeout=run_test.WATCHDOG,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def as_text(self, format, *arguments):
        """What the report of a run is in a format; that of github comes after the text."""
        text = self.report("--format", format, *arguments)
        if format != "github":
            return text
        self.report("--format", format, "--output", "out", *arguments)
        commands = (self.folder / "out").read_text(encoding="utf-8")
        self.assertTrue(text.endswith(commands))
        return commands

    def check_all(self, *arguments):
        """The counts of a run, which must be the same in all formats."""
        expected = counts_of_json(self.as_text("json", *arguments))
        for format, read in READERS.items():
            with self.subTest(format=format):
                counts = read(self.as_text(format, *arguments))
                if counts.skipped is None:  # SARIF tells only of what was found
                    counts = counts._replace(skipped=expected.skipped)
                self.assertEqual(counts, expected)
        self.report("--trace", "trace.json", *arguments)
        check_trace((self.folder / "trace.json").read_text(encoding="utf-8"))
        return expected


class Agreement(FormatTest):
    def test_hostile_names_and_outputs(self):
        done = self.weft(self.write(HOSTILE), "--workers", "2")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(
            self.check_all(), Counts(total=12, failed=8, warned=1, flaky=1, skipped=1)
        )

    def test_a_run_of_nothing(self):
        done = self.weft("-", text="")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.check_all(), Counts(0, 0, 0, 0, 0))
        self.assertEqual(read_tap(self.as_text("tap"))["skip_all"], "there are no rules")

    def test_a_run_that_was_cut_off_anywhere(self):
        self.weft(self.write(run_test.MIXED), "--workers", "1")
        whole = self.logs()[0].read_bytes()
        begin = whole.index(b'{"event":"start"')
        ends = [i + 1 for i in range(begin - 1, len(whole)) if whole[i] == ord("\n")]
        for end in [*ends, ends[1] + 5]:
            self.write(whole[:end], "cut.jsonl")
            with self.subTest(end=end):
                self.check_all("cut.jsonl")

    def test_a_run_that_ended_early_is_no_success_in_tap_and_sarif(self):
        plan = rules(shell("bad", "exit 1", 'cost = "1h"'), rule("never"))
        self.weft(self.write(plan), "--workers", "1", "--fail-fast")
        self.assertEqual(self.check_all(), Counts(total=2, failed=1, warned=0, flaky=0, skipped=1))
        self.assertEqual(
            read_tap(self.as_text("tap"))["bailout"],
            "The run ended at the first failure: 1 of 2 rules never began",
        )
        invocation = read_sarif(self.as_text("sarif")).runs[0].invocations[0]
        self.assertFalse(invocation.execution_successful)


class Contents(FormatTest):
    def setUp(self):
        super().setUp()
        self.weft(self.write(HOSTILE), "--workers", "2")

    def test_junit_has_names_outputs_and_attempts(self):
        root = xml.etree.ElementTree.fromstring(self.as_text("junit").encode())
        cases = {case.get("name"): case for case in root.iter("testcase")}
        odd = cases["a ]]> \"q\" '<&>: two\nlines # SKIP"]
        self.assertEqual(odd.get("classname"), "x]]> \"&<.b, c: d")
        self.assertEqual(odd.find("failure").get("message"), "exit code 2")
        self.assertEqual(odd.findtext("system-out"), "\ufffd\\x00\\x1b[31m ]]> <x>\\r\n  \n# y\n")
        self.assertIn("\U0001f600 100%, x::y: \\x01\ufffd", cases)
        self.assertEqual(cases["killed"].find("error").get("message"), "killed by SIGKILL")
        self.assertEqual(cases["late"].find("error").get("type"), "timed_out")
        self.assertEqual(len(cases["hopeless"].findall("rerunFailure")), 2)
        self.assertGreater(len(cases["large"].findtext("system-out")), 10_000)
        self.assertEqual(
            [suite.get("name") for suite in root.iter("testsuite")], ["\n::error::x", "x]]> \"&<"]
        )
        for suite in root.iter("testsuite"):
            self.assertRegex(suite.get("timestamp"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$")
            self.assertGreaterEqual(float(suite.get("time")), 0)

    def test_tap_has_descriptions_and_diagnostics(self):
        read = read_tap(self.as_text("tap"))
        self.assertEqual(read["plan"], "1..12")
        points = {int(point["number"]): point for point in read["points"]}
        self.assertIn("two\\\\nlines \\# SKIP", points[1]["description"])
        self.assertEqual(points[1]["yaml"]["exit_code"], "2")
        self.assertEqual(points[1]["yaml"]["output"][1:], ["  ", "# y"])
        self.assertEqual(points[6]["yaml"]["status"], "timed_out")
        self.assertEqual(points[7]["explanation"], "warning: exit code 1")
        self.assertEqual(points[8]["yaml"]["attempts"], "2")
        self.assertEqual(points[10]["yaml"]["findings"][0]["line"], "2")
        self.assertEqual(points[12]["explanation"], "comes after late, which failed")

    def test_sarif_has_file_and_line_of_what_a_check_found(self):
        run = read_sarif(self.as_text("sarif")).runs[0]
        found = [result for result in run.results if result.rule_id == "todo"]
        self.assertEqual(len(found), 1)
        self.assertEqual((found[0].level, found[0].message.text), ("error", "has TODO"))
        place = found[0].locations[0].physical_location
        self.assertEqual(urllib.parse.unquote(place.artifact_location.uri), "a, b%\u00e9.txt")
        self.assertEqual(place.artifact_location.uri_base_id, "%SRCROOT%")
        self.assertEqual(place.region.start_line, 2)
        killed = [result for result in run.results if result.rule_id == "killed"]
        self.assertEqual([result.locations for result in killed], [None])
        self.assertTrue(run.invocations[0].execution_successful)

    def test_github_has_file_and_line_of_what_a_check_found(self):
        commands = read_commands(self.as_text("github"))
        self.assertIn(
            ("error", {"file": "a, b%\u00e9.txt", "line": "2", "title": "todo"}, "has TODO"), commands
        )
        self.assertIn(("error", {"title": "killed"}, "killed by SIGKILL"), commands)
        self.assertIn(
            ("warning", {"title": "shaky"}, "flaky: passed at attempt 2; before that: exit code 1"), commands
        )


class Traces(FormatTest):
    def trace(self, plan, *arguments):
        done = self.weft(self.write(plan), "--trace", "trace.json", *arguments)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        text = (self.folder / "trace.json").read_text(encoding="utf-8")
        self.report("--trace", "again.json")
        self.assertEqual((self.folder / "again.json").read_text(encoding="utf-8"), text)
        return check_trace(text)

    def test_a_track_a_worker_a_slice_a_rule_and_arrows_along_dependencies(self):
        plan = rules(
            rule("a"), rule("b", "command = ['true']", 'after = ["a"]'), shell("c", "exit 1", 'after = ["b"]')
        )
        named, events, arrows = self.trace(plan, "--workers", "3")
        self.assertEqual(sorted(named.values()), ["worker 0", "worker 1", "worker 2"])
        self.assertEqual(
            {e["name"]: e["args"]["status"] for e in events["X"]}, {"a": "passed", "b": "passed", "c": "failed"}
        )
        self.assertEqual(arrows, [("dependency", "a", "b"), ("dependency", "b", "c")])
        self.assertEqual({e["name"] for e in events["C"]}, {"rules", "memory"})
        self.assertTrue(all(e["args"]["critical"] for e in events["X"]))

    def test_a_run_with_every_kind_of_end(self):
        _, events, _ = self.trace(HOSTILE, "--workers", "3")
        self.assertEqual(collections.Counter(e["name"] for e in events["X"])["hopeless"], 3)
        self.assertNotIn("next", {e["name"] for e in events["X"]})

    def test_a_run_that_steals(self):
        # All begin on one list; the second worker has to steal.
        plan = rules(*(shell(f"r{i}", "sleep 0.02") for i in range(12)))
        _, events, arrows = self.trace(plan, "--workers", "2", "--policy", "stealing")
        self.assertEqual(len(events["X"]), 12)
        self.assertLessEqual({kind for kind, _, _ in arrows}, {"steal"})


class CommandLine(FormatTest):
    PLAN = rules(shell("bad", "echo why; exit 1"))

    def test_a_format_for_programs_is_all_that_standard_output_gets(self):
        for format in ("junit", "tap", "sarif"):
            done = self.weft(self.write(self.PLAN), "--format", format)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(READERS[format](done.stdout).failed, 1)
            self.assertIn("FAIL", done.stderr)

    def test_github_gets_the_text_and_then_the_annotations(self):
        done = self.weft(self.write(self.PLAN), "--format", "github")
        text, _, commands = done.stdout.partition("\n::")
        self.assertIn("  | why\n", text)
        self.assertEqual(counts_of_github("::" + commands).failed, 1)
        quiet = self.weft("plan.toml", "--format", "github", "--quiet").stdout
        self.assertNotIn("Duration", quiet)
        self.assertIn("::error title=bad::exit code 1\n", quiet)

    def test_output_gets_the_format_and_standard_output_the_text(self):
        for format in READERS:
            done = self.weft(self.write(self.PLAN), "--format", format, "--output", "out")
            self.assertIn("1 rule, 0 passed, 1 failed", done.stdout)
            self.assertNotIn("::error", done.stdout)
            self.assertEqual(READERS[format]((self.folder / "out").read_text()).failed, 1)

    def test_a_trace_that_cannot_be_written_is_refused_before_anything_runs(self):
        self.write(rules(shell("a", "touch ran")))
        for name in (".", "no/such/directory"):
            self.refuse(73, f"--trace: cannot write {name}: ", "plan.toml", "--trace", name)
        self.refuse(2, "--trace: x is the file of --output", "plan.toml", "--trace", "x", "-o", "x")
        self.assertFalse((self.folder / "ran").exists())
        done = self.weft("plan.toml", "--trace", "/dev/full")
        self.assertEqual(done.returncode, 73)
        self.assertIn("--trace: cannot write /dev/full: No space left", done.stderr)

    def test_a_trace_without_permission_is_refused(self):
        command = [*self.as_nobody(), run_test.WEFT, "run", self.write(self.PLAN), "--trace", "t"]
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, encoding="utf-8", timeout=60, check=False
        )
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("--trace: cannot write t: Permission denied", done.stderr)

    def test_what_makes_no_sense_is_refused(self):
        self.write(self.PLAN)
        self.refuse(2, "--format: ", "plan.toml", "--format", "xml")
        self.refuse(2, "a dry run can be shown as text or json", "plan.toml", "--dry-run", "--format", "tap")
        self.refuse(2, "--trace: a dry run has none", "plan.toml", "--dry-run", "--trace", "t")
        self.assertEqual([path.name for path in self.folder.iterdir() if path.suffix == ".toml"], ["plan.toml"])


if __name__ == "__main__":
    run_test.WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
