#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file: licence line, no trailing blanks, a last newline; source files: a name of their own. What is no text is data of a test."""
import os
import re

from lint_files import Report, all_files, lines_of

SOURCE = re.compile(r"\.(c|h|S|cu|cuh|py|mjs|sh|cmake|cmake\.in)$|(^|/)(CMakeLists\.txt|dev|\.ci/run)$")
UNIQUE = re.compile(r"\.(c|h|S|cu|cuh|py|mjs)$")
SNAKE = re.compile(r"^[a-z0-9_]+\.\w+$")

report = Report()
first_place = {}
for name in all_files():
    lines = lines_of(name)
    base = os.path.basename(name)
    if not lines and not name.startswith("tests/"):
        report.say(name, 1, "no text", "delete it; data of a test is in tests")
    if SOURCE.search(name) and not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
        report.say(name, 1, "no licence line", "begin with SPDX-License-Identifier: Apache-2.0")
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            report.say(name, number, "blanks at the end of the line", "delete them")
    if lines and lines[-1] != "":
        report.say(name, len(lines), "no newline at the end", "add one")
    if UNIQUE.search(name):
        if not SNAKE.match(base):
            report.say(name, 1, "file name", "use lower_case_with_underscores")
        if base in first_place:
            report.say(name, 1, f"a second {base} beside {first_place[base]}", "give it a name of its own")
        first_place.setdefault(base, name)
report.end()
