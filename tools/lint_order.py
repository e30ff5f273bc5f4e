#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory order: each acquire and release of the runtime carries a label (`/* R1.rel */`), each label has its other
half, and each pair has its row in docs/MEMORY_ORDER.md, which has no row too many."""
import os
import re

from lint_files import Report, lines_of, matching, without_comments

TABLE = "docs/MEMORY_ORDER.md"
LABEL = re.compile(r"/\*.*?\b([A-Z]+[0-9]+)\.(rel|acq)\b")
LABELS = re.compile(r"\b([A-Z]+[0-9]+)\.(rel|acq)\b")
ORDERED = re.compile(r"\bgpurt_\w+_(acquire|release|acq_rel)_(blk|clu|dev|sys|far|near)_\w+\s*\(")
ROW = re.compile(r"^\|\s*`?([A-Z]+[0-9]+)`?\s*\|")
DEFINES_THEM = "runtime/include/gpurt/atomic.h"

report = Report()
seen = {}
for name in matching("cupti/*.c", "cupti/*.h", "kernels/*.c", "kernels/*.h", "runtime/*.c", "runtime/*.h", "logstore/*.c", "logstore/*.h",
                     "tui/*.c", "tui/*.h"):
    raw = lines_of(name)
    code = without_comments(name)
    for number, line in enumerate(raw, 1):
        if code[number - 1].strip() and LABEL.search(line):
            for pair, half in LABELS.findall(line):
                seen.setdefault(pair, {}).setdefault(half, (name, number))
    if name == DEFINES_THEM:
        continue
    for number, line in enumerate(code, 1):
        if not ORDERED.search(line):
            continue
        # A call may run over a few lines; its label stands on any of them.
        last = next((i for i in range(number, min(number + 6, len(code) + 1)) if ";" in code[i - 1]), number)
        if not any(LABEL.search(raw[i - 1]) for i in range(number, last + 1)):
            report.say(name, number, "an acquire or release without a label",
                       "say on the line which pair it belongs to, as /* R1.rel */")

rows = {}
if os.path.exists(TABLE):
    for number, line in enumerate(lines_of(TABLE), 1):
        if ROW.match(line):
            rows[ROW.match(line).group(1)] = number
for pair, halves in sorted(seen.items()):
    name, number = next(iter(halves.values()))
    for half in ("rel", "acq"):
        if half not in halves:
            report.say(name, number, f"{pair} has no {pair}.{half}", "label its other end, or delete this one")
    if pair not in rows:
        report.say(name, number, f"{pair} is not in {TABLE}", f"add a row `| {pair} | ...`")
for pair, number in sorted(rows.items()):
    if pair not in seen:
        report.say(TABLE, number, f"{pair} is nowhere in the code", "delete the row")
report.end()
