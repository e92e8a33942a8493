#!/usr/bin/env python3
"""compile_fail.py SOURCE COMPILER [FLAG...]: checks what a compiler says about a mistake.

The source must compile with -DCORRECTED, so that nothing but the mistake is wrong with it. Without
it must not compile, and the first screen of what the compiler says must contain every text that the
source has in a line `// expect: TEXT`.
"""

import os
import re
import subprocess
import sys

FIRST_SCREEN = 25  # lines


def compile_source(command):
    environment = os.environ | {"LC_ALL": "C"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def main():
    source, *compiler = sys.argv[1:]
    command = [*compiler, "-fsyntax-only", source]
    with open(source, encoding="utf-8") as file:
        expected = re.findall(r"^// expect: (.+)$", file.read(), re.MULTILINE)
    if not expected:
        sys.exit(f"{source}: says nothing about what to expect")

    compiles, said = compile_source([*command, "-DCORRECTED"])
    if not compiles:
        sys.exit(f"{said}\n{source}: the corrected version does not compile")
    compiles, said = compile_source(command)
    if compiles:
        sys.exit(f"{source}: compiles, and must not")
    first_screen = "\n".join(said.splitlines()[:FIRST_SCREEN])
    missing = [text for text in expected if text not in first_screen]
    if missing:
        sys.exit(f"{said}\n{source}: the first {FIRST_SCREEN} lines do not say {missing}")
    print(first_screen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
