#!/usr/bin/env python3
"""Runs the commands of a page of the guide: tests/docs/guide_commands_test.py WEFT PAGE

A block after `<!-- file NAME -->` is written to that file, and every line of a block `sh` is run, in
the order of the page, in an empty directory. Each must end with 0 and say nothing of warnings.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^(?:<!-- file (\S+) -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def main():
    weft, page = map(Path, sys.argv[1:])
    commands = 0
    with tempfile.TemporaryDirectory(prefix="weft-guide-") as folder:
        programs = Path(folder, "bin")
        programs.mkdir()
        (programs / "weft").symlink_to(weft.resolve())
        work = Path(folder, "work")
        work.mkdir()
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        for file, language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
            if file:
                (work / file).write_text(text, encoding="utf-8")
            for line in text.splitlines() if language == "sh" else ():
                commands += 1
                print(f"$ {line}", flush=True)
                done = subprocess.run(
                    ["sh", "-c", line],
                    cwd=work,
                    env=os.environ | {"PATH": path},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    encoding="utf-8",
                    timeout=120,
                    check=False,
                )
                print(done.stdout)
                if done.returncode != 0 or "warning" in done.stdout:
                    sys.exit(f"{page}: `{line}` ended with {done.returncode}")
    if commands == 0:
        sys.exit(f"{page}: has no commands")


if __name__ == "__main__":
    main()
