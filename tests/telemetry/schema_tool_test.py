#!/usr/bin/env python3
"""tools/telemetry_schema on copies of the schema with one thing changed."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class SchemaTool(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        for path in (
            "tools/telemetry_schema",
            "src/telemetry/schema",
            "include/weft/telemetry/schema.hpp",
            "docs/reference/telemetry.md",
        ):
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / path).is_dir() else shutil.copy
            copy(ROOT / path, target)

    def run_tool(self, *arguments):
        return subprocess.run(
            [sys.executable, self.root / "tools/telemetry_schema", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def change(self, path, old, new):
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        self.assertIn(old, text)
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    def refused(self, old, new, message, path="src/telemetry/schema/scheduler.yaml"):
        self.change(path, old, new)
        result = self.run_tool()
        self.assertEqual(result.returncode, 1)
        self.assertIn(message, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_what_is_checked_in_is_up_to_date(self):
        self.assertEqual(self.run_tool("--check").returncode, 0)

    def test_a_derived_file_that_was_edited_is_found_and_written_anew(self):
        for path in ("include/weft/telemetry/schema.hpp", "docs/reference/telemetry.md"):
            self.change(path, "Tasks spawned or submitted", "Something else")
            result = self.run_tool("--check")
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"{path} is not what the schema says", result.stdout)
            self.assertEqual(self.run_tool().returncode, 0)
            self.assertEqual(self.run_tool("--check").returncode, 0)

    def test_a_schema_that_was_edited_is_found(self):
        self.change("src/telemetry/schema/batch.yaml", "Runs begun.", "Runs that began.")
        self.assertEqual(self.run_tool("--check").returncode, 1)

    def test_a_derived_file_that_is_missing_is_found(self):
        (self.root / "docs/reference/telemetry.md").unlink()
        self.assertEqual(self.run_tool("--check").returncode, 1)

    def test_an_attribute_that_nobody_declares_is_refused(self):
        self.refused("ref: scheduler.name", "ref: scheduler.nme", "nothing declares")

    def test_an_attribute_that_is_declared_twice_is_refused(self):
        self.refused("id: scheduler.task.id", "id: scheduler.name", "declared twice")

    def test_a_metric_that_is_declared_twice_is_refused(self):
        self.change(
            "src/telemetry/schema/scheduler.yaml",
            "metric.scheduler.tasks.stolen",
            "metric.scheduler.tasks.spawned",
        )
        self.refused("name: scheduler.tasks.stolen", "name: scheduler.tasks.spawned", "two metrics")

    def test_an_unknown_unit_is_refused(self):
        self.refused("unit: s\n", "unit: ms\n", "unit ms is neither")

    def test_an_unknown_instrument_is_refused(self):
        self.refused("instrument: counter", "instrument: meter", "the instrument is none of")

    def test_a_missing_field_is_named(self):
        self.refused('    unit: "{task}"\n', "", "`unit` is missing")

    def test_a_name_that_is_no_name_is_refused(self):
        self.refused("id: scheduler.worker.id", "id: Scheduler-worker", "words with dots")

    def test_a_text_that_is_no_sentence_is_refused(self):
        self.refused("Tasks spawned or submitted.", "Tasks", "ends with a full stop")

    def test_a_file_that_is_no_yaml_is_refused(self):
        self.refused("groups:", "groups: [", "needs a list `groups`")

    def test_unknown_arguments_are_refused(self):
        self.assertEqual(self.run_tool("--fix").returncode, 2)


if __name__ == "__main__":
    unittest.main()
